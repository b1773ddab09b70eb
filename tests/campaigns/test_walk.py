"""From a CSV to an open campaign, following only what the pages offer."""

import csv
import io
import re

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "lance-and-shield-7"


def table(*rows: tuple[str, ...], delimiter: str = ",") -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode("utf-8-sig")


PROMPTS = table(
    ("prompt", "category"), *((f"How long do {n} eggs boil?", "kitchen") for n in range(1, 5)), delimiter=";"
)
RESPONSES = table(
    ("prompt", "model", "response"),
    *(
        (f"How long do {n} eggs boil?", model, f"{words}: {n + 5} minutes.")
        for n in range(1, 5)
        for model, words in (("Ember", "In short"), ("Fjord", "As I'd say"))
    ),
)


def upload(page, content: bytes, name: str) -> None:
    page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content}
    )
    page.get_by_role("button", name="Check the file").click()
    page.get_by_role("button", name=re.compile(r"^Import \d+ rows")).click()


def test_an_admin_gets_from_a_csv_to_the_first_battle(page, live_server, cast):
    page.set_viewport_size({"width": 375, "height": 740})
    page.goto(f"{live_server.url}/accounts/login/?next=/")
    page.get_by_label("Username").fill("carol")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    page.locator("main a.primary", has_text="Import prompts").click()
    page.get_by_label("Prompt set").fill("Kitchen")
    upload(page, PROMPTS, "questions.csv")
    page.get_by_role("link", name="Import responses").click()
    upload(page, RESPONSES, "answers.csv")
    page.get_by_role("link", name="Make a campaign").click()

    page.get_by_label("Name").fill("Eggs")
    assert page.get_by_label("Kitchen v1").is_checked()
    page.get_by_role("button", name="Make the campaign").click()
    assert page.get_by_role("button", name="Open for votes").count() == 0
    page.get_by_role("button", name="Publish").click()
    page.get_by_role("button", name="Open for votes").click()
    page.get_by_role("button", name="Make a link for a group").click()
    link = page.get_by_label("Invite link").input_value()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375

    rater = page.context.browser.new_page()
    try:
        rater.goto(link)
        rater.get_by_role("button", name="Begin").click()
        rater.wait_for_selector("article.battle")
    finally:
        rater.close()
