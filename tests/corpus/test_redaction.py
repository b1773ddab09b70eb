import json

import pytest
from django.utils import timezone

from arena.battles.draw import draw
from arena.battles.models import Battle
from arena.corpus.models import Prompt, Response
from arena.corpus.publishing import content_hash
from arena.corpus.redaction import REDACTED, redact_prompt, redact_response
from arena.corpus.versions import draft_next
from arena.endpoints.models import Endpoint
from arena.leaderboards.defaults import ensure_leaderboards
from arena.leaderboards.fitting.snapshots import REPLAYED, replay, take_snapshot
from tests.corpus.judged_call import judged

pytestmark = pytest.mark.django_db
SECRET = "My name is Jane Doe and I live at 12 Nowhere Lane, please write to the council."


@pytest.fixture
def secret(small_campaign) -> Prompt:
    prompt = small_campaign.prompts[0]
    prompt.messages = [{"role": "user", "content": SECRET}]
    prompt.reference = "Jane Doe's letter"
    prompt.rendered_html = f"<p>{SECRET}</p>"
    prompt.save()
    return prompt


def vote_on_everything(client, small) -> None:
    client.post(f"/join/{small.token}/")
    for number in range(9):
        client.get("/campaigns/small/battle/")
        battle = Battle.objects.filter(vote=None).earliest("pk")
        outcome = ("model_a", "model_b", "tie")[number % 3]
        ballot = {"outcome": outcome, "key": f"idempotency-key-{number}"}
        assert client.post(f"/battles/{battle.public_id}/vote/", ballot).status_code == 303


def test_a_redacted_prompt_leaves_a_tombstone_and_its_set_keeps_its_hash(secret):
    before = content_hash(secret.prompt_set)
    assert redact_prompt(secret, reason=" personal data ", by="carol")
    secret.refresh_from_db()
    assert secret.messages == [{"role": "user", "content": REDACTED}]
    assert "Jane" not in secret.rendered_html + secret.reference
    assert secret.tombstone["reason"] == "personal data" and secret.tombstone["by"] == "carol"
    assert (secret.tombstone["characters"], secret.tombstone["turns"]) == (len(SECRET) + 17, 1)
    assert content_hash(secret.prompt_set) == before
    assert not redact_prompt(secret, reason="again", by="mallory")
    assert Prompt.objects.get(pk=secret.pk).tombstone["by"] == "carol"


def test_a_redacted_response_keeps_its_hash_and_counts(small_campaign):
    response = small_campaign.responses[0]
    words, hashed = response.words, response.text_hash
    assert redact_response(response, reason="slander", by="carol")
    response.refresh_from_db()
    assert (response.text, response.words, response.text_hash) == ("", words, hashed)
    assert response.tombstone["sha256"] == hashed and "Reply" not in response.rendered_html
    assert not response.is_blank


def test_a_redaction_without_a_reason_is_refused(secret, small_campaign):
    for act, row in ((redact_prompt, secret), (redact_response, small_campaign.responses[0])):
        with pytest.raises(ValueError, match="needs a reason"):
            act(row, reason=" ", by="carol")
        row.refresh_from_db()
        assert row.tombstone is None


def test_a_redacted_text_is_never_drawn_again(small_campaign, cast, secret):
    redact_prompt(secret, reason="x", by="carol")
    gone = small_campaign.responses[-1]
    redact_response(gone, reason="x", by="carol")
    for policy in ("flag", "exclude", "mask"):
        fit = Response.objects.fit_to_fight(policy)
        assert not fit.filter(prompt=secret).exists() and not fit.filter(pk=gone.pk).exists()
    drawn = [battle for _ in range(6) for battle in draw(small_campaign.campaign, cast.alice_rater, 2)]
    assert drawn and all(battle.prompt_id != secret.pk for battle in drawn)
    assert all(gone.pk not in (battle.response_a_id, battle.response_b_id) for battle in drawn)


def test_an_open_battle_about_it_ends(small_campaign, cast):
    (battle,) = draw(small_campaign.campaign, cast.alice_rater)
    redact_response(battle.response_b, reason="x", by="carol")
    battle.refresh_from_db()
    assert battle.has_expired(timezone.now())


def test_votes_and_boards_stay_as_they_are(small_campaign, client):
    vote_on_everything(client, small_campaign)
    board = ensure_leaderboards(small_campaign.campaign)[0]
    snapshot = take_snapshot(board).snapshot
    for prompt in small_campaign.prompts:
        redact_prompt(prompt, reason="x", by="carol")
    for response in small_campaign.responses:
        redact_response(response, reason="x", by="carol")
    stored, again = replay(snapshot)
    assert all(getattr(stored, name) == getattr(again, name) for name in REPLAYED)
    assert small_campaign.campaign.battles.filter(vote__isnull=False).count() == 9


def test_what_was_asked_about_it_is_blanked_in_the_ledger(small_campaign, secret, cast):
    endpoint = Endpoint.objects.create(
        team=cast.team, name="E", base_url="https://x.invalid/v1", model_id="m"
    )
    asked = f"BEGIN PROMPT\n{SECRET}\nEND\n{small_campaign.responses[0].text}"
    reply = json.dumps({"reason": f"It says {SECRET}"})
    attempt = judged(small_campaign, secret, endpoint, asked, reply)
    redact_prompt(secret, reason="x", by="carol")
    redact_response(small_campaign.responses[0], reason="x", by="carol")
    attempt.refresh_from_db()
    kept = json.dumps(attempt.request) + attempt.raw_reply + attempt.reply_text
    assert "Jane" not in kept and "Reply 0" not in kept
    assert (
        attempt.request["model"] == "m" and json.loads(attempt.raw_reply)["reason"] == f"It says {REDACTED}"
    )


def test_an_admin_redacts_on_the_page_with_a_reason(signed_in, secret, small_campaign):
    carol = signed_in("carol")
    assert "Jane" in carol.get(f"/prompts/{secret.pk}/").content.decode()
    assert "needs a reason" in carol.post(f"/prompts/{secret.pk}/redact/", follow=True).content.decode()
    carol.post(f"/prompts/{secret.pk}/redact/", {"reason": "asked for by <her>"})
    response = secret.responses.first()
    carol.post(f"/responses/{response.pk}/redact/", {"reason": "quotes it"})
    page = carol.get(f"/prompts/{secret.pk}/").content.decode()
    assert "Jane" not in page and "asked for by &lt;her&gt;" in page and "quotes it" in page
    assert response.text not in page
    for path in (f"/prompt-sets/{secret.prompt_set_id}/", f"/prompt-sets/{secret.prompt_set_id}/?q=Jane"):
        assert "Nowhere" not in carol.get(path).content.decode()


def test_the_page_says_where_the_same_text_stands_and_redacts_it_there_too(signed_in, secret, small_campaign):
    carol = signed_in("carol")
    following = draft_next(small_campaign.prompt_set)
    copy = following.prompts.get(external_id=secret.external_id)
    page = carol.post(f"/prompts/{secret.pk}/redact/", {"reason": "x", "everywhere": "1"}, follow=True)
    assert "in 1 other place" in page.content.decode()
    copy.refresh_from_db()
    assert copy.tombstone["by"] == "carol" and "Jane" not in str(copy.messages)


def test_a_response_is_redacted_wherever_it_is_said_whole(signed_in, small_campaign):
    first, second = small_campaign.responses[:2]
    Response.objects.filter(pk=second.pk).update(text=first.text, text_hash=first.text_hash)
    signed_in("carol").post(f"/responses/{first.pk}/redact/", {"reason": "x", "everywhere": "1"})
    gone = Response.objects.filter(tombstone__isnull=False).values_list("pk", flat=True)
    assert set(gone) == {first.pk, second.pk}


@pytest.mark.parametrize("who", ["alice", "ravi", "mallory", "dora"])
def test_nobody_else_redacts(signed_in, small_campaign, who):
    response = small_campaign.responses[0]
    answer = signed_in(who).post(f"/responses/{response.pk}/redact/", {"reason": "x"})
    response.refresh_from_db()
    assert answer.status_code == 404 and response.tombstone is None
