"""A rater in a real browser, and a record of all that the browser was sent and complained about."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

# A vote within this time after a battle was painted is taken for the second half of a double click.
SETTLED_MS = 350

COMPLAINTS = """
  document.addEventListener("securitypolicyviolation", (event) =>
    console.error("policy violation: " + event.violatedDirective + " " + event.blockedURI));
"""


@dataclass
class Record:
    """Every byte of every answer: status line, headers and body; and what went wrong in the page."""

    answers: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def watch(self, page) -> None:
        page.add_init_script(COMPLAINTS)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("requestfinished", self.keep)
        page.on("console", lambda line: self.complaints.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def keep(self, request) -> None:
        answer = request.response()
        headers = "\n".join(f"{header['name']}: {header['value']}" for header in answer.headers_array())
        body = b"" if 300 <= answer.status < 400 else answer.body()
        self.answers.append("\n".join((answer.url, headers, body.decode("utf-8", "replace"))))


@dataclass
class RaterAtWork:
    """Opens the invite link, begins, and votes."""

    page: object
    url: str
    record: Record

    def begin(self, token: str) -> None:
        self.page.goto(f"{self.url}/join/{token}/")
        self.page.get_by_role("button", name="Begin").click()
        self.settle()

    def settle(self) -> None:
        """Until there is a battle, the script has begun to listen, and a vote is no double click."""
        self.page.wait_for_selector("article.battle")
        self.page.wait_for_load_state()
        self.page.wait_for_timeout(SETTLED_MS)

    def battle(self) -> str:
        return self.page.locator("#stage > article.battle").get_attribute("data-battle")

    def press(self, key: str) -> None:
        """Presses a key that ends with another battle on the screen and the server's answer read."""
        before = self.battle()
        self.page.keyboard.press(key)
        self.page.wait_for_function(
            """before => {
              const article = document.querySelector("#stage > article.battle");
              return !article || (article.dataset.battle !== before
                && !document.querySelector("#stage[aria-busy]")
                && !localStorage.getItem("tiltyard.queue:" + location.pathname)?.includes("url"));
            }""",
            arg=before,
        )
        self.page.wait_for_timeout(SETTLED_MS)

    def recorded(self) -> str:
        return self.page.locator("#recorded").inner_text()

    def progress(self) -> str:
        return self.page.locator("#progress").inner_text()


def follow(control) -> None:
    """Clicks a control that leads to another page, and waits for that page to be there whole."""
    with control.page.expect_navigation():
        control.click()


@pytest.fixture
def at_work(live_server):
    """at_work(page) is a rater at that page, recorded."""

    def work(page) -> RaterAtWork:
        record = Record()
        record.watch(page)
        return RaterAtWork(page, live_server.url, record)

    return work
