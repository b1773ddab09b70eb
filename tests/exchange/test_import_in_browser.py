"""An admin on a phone, in the dark: from a spreadsheet to prompts and responses."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone

from arena.corpus.models import Prompt, Response
from arena.exchange.models import Import
from arena.exchange.shifts import LEASE
from arena.raters.models import Team

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 375, "height": 812}
PROMPTS = "Nr;Frage\n1;Erkläre den Föhn.\n2;Was kostet 1 €?\n".encode("cp1252")
RESPONSES = b"prompt_id,Ember,Fjord,note\n1,Ein *Wind*.,Warm.,x\n2,Nichts.,Viel.,y\n"


@pytest.fixture
def phone(open_context, live_server, signed_in, tmp_path, settings):
    settings.DATA_DIR = tmp_path
    context = open_context(viewport=PHONE, color_scheme="dark", base_url=live_server.url)
    session = signed_in("carol").cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda line: page.complaints.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    return page


def upload(page, kind: str, name: str, content: bytes) -> None:
    page.goto(f"/imports/new/?kind={kind}")
    page.get_by_label("Prompt set").fill("Wetter")
    file = {"name": name, "mimeType": "text/csv", "buffer": content}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Check the file").press("Enter")
    page.wait_for_url("**/imports/*-*/")


def check_again(page) -> None:
    page.get_by_role("button", name="Check again").press("Enter")
    page.wait_for_load_state()


def is_in_order(page) -> bool:
    assert Axe().run(page).response["violations"] == []
    assert page.complaints == []
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_from_an_eight_bit_spreadsheet_and_a_table_of_all_models_to_responses(phone):
    upload(phone, "prompts", "wetter.csv", PROMPTS)
    assert "Erkläre" in phone.get_by_role("row", name="Windows-1252").inner_text()
    assert is_in_order(phone)
    phone.get_by_role("radio", name="Windows-1252").check()
    phone.get_by_label("id", exact=True).select_option("Nr")
    phone.get_by_label("prompt", exact=True).select_option("Frage")
    check_again(phone)
    phone.get_by_text("Erkläre den Föhn.").wait_for()
    assert is_in_order(phone)
    phone.get_by_role("button", name="Import 2 rows").press("Enter")
    phone.get_by_text("Imported.").wait_for()

    upload(phone, "responses", "responses.csv", RESPONSES)
    assert is_in_order(phone)
    phone.get_by_label("note", exact=True).uncheck()
    check_again(phone)
    phone.get_by_role("button", name="Import 4 rows").press("Enter")
    phone.get_by_text("Imported.").wait_for()
    assert [prompt.text for prompt in Prompt.objects.order_by("pk")] == [
        "Erkläre den Föhn.",
        "Was kostet 1 €?",
    ]
    assert Response.objects.count() == 4


def test_progress_moves_and_the_end_shows_by_itself(phone):
    record = Import.objects.create(
        team=Team.default(),
        kind="responses",
        target="Wetter",
        file_name="large.jsonl",
        state=Import.State.STORING,
        done_rows=500,
        total_rows=2000,
        leased_until=timezone.now() + LEASE,
    )
    phone.goto(f"/imports/{record.public_id}/")
    phone.get_by_text("500 of 2,000 rows").wait_for()
    assert is_in_order(phone)
    Import.objects.update(done_rows=1500)
    phone.get_by_text("1,500 of 2,000 rows").wait_for()
    Import.objects.update(state=Import.State.DONE, added=2000, leased_until=None)
    phone.get_by_text("Imported.").wait_for()
    assert is_in_order(phone)


def test_the_page_of_tokens_fits_a_phone(phone):
    phone.goto("/accounts/tokens/")
    phone.get_by_label("Name").fill("nightly import")
    phone.get_by_role("button", name="Make a token").press("Enter")
    phone.get_by_text("It is shown only now").wait_for()
    assert is_in_order(phone)


# --- on its way -------------------------------------------------------------------------------------------


def throttled(page, bytes_a_second: int) -> None:
    page.context.new_cdp_session(page).send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": bytes_a_second},
    )


def chosen(page, content: bytes) -> None:
    page.goto("/imports/new/?kind=prompts")
    page.get_by_label("Prompt set").fill("Wetter")
    file = {"name": "wetter.csv", "mimeType": "text/csv", "buffer": content}
    page.locator("input[type=file]").set_input_files(file)


def test_a_file_on_its_way_shows_how_far_it_is_and_can_be_stopped(phone):
    chosen(phone, b"id,prompt\n" + b"1,Why?\n" * 300_000)
    throttled(phone, 50_000)
    check = phone.get_by_role("button", name="Check the file")
    check.click()
    phone.get_by_text("Being sent: ").wait_for()
    assert check.is_disabled() and is_in_order(phone)
    phone.get_by_role("button", name="Cancel").click()
    phone.get_by_text("Cancelled: nothing was stored.").wait_for()
    assert check.is_enabled() and not Import.objects.exists()


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(phone, settings):
    settings.MAX_UPLOAD_MB = 1
    chosen(phone, b"x" * (1024 * 1024 + 1))
    phone.get_by_text("The file is larger than 1 MB. Split it").wait_for()
    asked = []
    phone.on("request", lambda request: asked.append(request.url))
    phone.get_by_role("button", name="Check the file").click()
    assert phone.get_by_text("The file is larger than 1 MB. Split it").is_visible() and asked == []


def test_a_form_that_lacks_something_says_so_where_it_was_sent_from(phone):
    chosen(phone, b"id,prompt\n1,Why?\n")
    phone.evaluate("document.querySelector('[name=target]').required = false")
    phone.get_by_label("Prompt set").fill("")
    phone.get_by_role("button", name="Check the file").click()
    phone.locator(".errorlist").first.wait_for()
    assert phone.get_by_role("button", name="Check the file").is_enabled()
