from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from arena.endpoints.models import Endpoint
from arena.judging.definition_forms import JudgeForm, criteria_as_text, read_criteria
from arena.judging.errands import rubric_text
from arena.judging.models import Judge, Rubric
from arena.judging.starters import STARTERS

RUBRIC = {
    "name": "General",
    "instructions": "Which response helps more? Length doesn't count.",
    "criteria": "factual (1-5): is it true?\nrelevant: does it answer?\nclarity (0–10): is it clear?",
}


def test_criteria_are_read_line_by_line_with_one_to_five_as_the_usual_scale():
    criteria = read_criteria(RUBRIC["criteria"])
    assert [(c.name, c.low, c.high) for c in criteria] == [
        ("factual", 1, 5),
        ("relevant", 1, 5),
        ("clarity", 0, 10),
    ]


def test_criteria_survive_being_written_and_read():
    stored = [{"name": "x", "description": "is it: right?", "low": 2, "high": 7}]
    [read] = read_criteria(criteria_as_text(stored))
    assert (read.name, read.description, read.low, read.high) == ("x", "is it: right?", 2, 7)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("criteria", "a: one\nb: two", "three to seven"),
        ("criteria", "a: one\nnonsense\nc: three", "line 2"),
        ("criteria", "a (5-1): one\nb: two\nc: three", "line 1"),
        ("criteria", "a: one\na: two\nc: three", "named twice"),
        ("criteria", f"a (1-{'9' * 5000}): one\nb: two\nc: three", "line 1: a scale ends at 100 or less"),
        ("instructions", "   ", "required"),
    ],
)
def test_a_rubric_that_cannot_be_asked_is_refused_with_words(signed_in, field, value, words):
    answer = signed_in("carol").post("/rubrics/new/", RUBRIC | {field: value})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Rubric.objects.exists()


@pytest.mark.django_db
def test_a_changed_rubric_is_a_new_version_and_the_same_one_is_none(signed_in):
    carol = signed_in("carol")
    for words in ("One.", "One.", "Two."):
        assert carol.post("/rubrics/new/", RUBRIC | {"instructions": words}).status_code == 302
    assert list(Rubric.objects.order_by("version").values_list("version", "instructions")) == [
        (1, "One."),
        (2, "Two."),
    ]
    assert "Two." in carol.get(f"/rubrics/new/?from={Rubric.objects.latest('pk').pk}").content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("words", ["the same", "each its own"])
def test_many_posts_at_once_publish_each_text_once(signed_in, words):
    visitors = [signed_in("carol") for _ in range(8)]

    def post(number: int) -> int:
        try:
            text = "One." if words == "the same" else f"Number {number}."
            return visitors[number].post("/rubrics/new/", RUBRIC | {"instructions": text}).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(post, range(8))) == {302}
    versions = sorted(Rubric.objects.values_list("version", flat=True))
    assert versions == ([1] if words == "the same" else list(range(1, 9)))


@pytest.mark.django_db
def test_a_judge_takes_its_family_from_the_endpoint(signed_in, cast):
    carol = signed_in("carol")
    carol.post("/rubrics/new/", RUBRIC)
    endpoint = Endpoint.objects.create(team=cast.team, name="E", base_url="https://e.org/v1", family="llama")
    judge = {"name": "J", "endpoint": endpoint.pk, "rubric": Rubric.objects.get().pk}
    assert carol.post("/judges/new/", judge).status_code == 302
    assert Judge.objects.get().family == "llama"
    assert "Another judge" in carol.post("/judges/new/", judge).content.decode()


@pytest.mark.django_db
def test_a_judges_name_taken_in_the_same_moment_gets_words(signed_in, cast, monkeypatch):
    carol = signed_in("carol")
    carol.post("/rubrics/new/", RUBRIC)
    endpoint = Endpoint.objects.create(team=cast.team, name="E", base_url="https://e.org/v1")
    judge = {"name": "J", "endpoint": endpoint.pk, "rubric": Rubric.objects.get().pk}
    looked = JudgeForm.clean

    def clean_then_the_other_comes(form):
        cleaned = looked(form)
        Judge.objects.get_or_create(team=cast.team, name="J")
        return cleaned

    monkeypatch.setattr(JudgeForm, "clean", clean_then_the_other_comes)
    answered = carol.post("/judges/new/", judge)
    assert answered.status_code == 422
    assert "Another judge has this name" in answered.content.decode()
    assert Judge.objects.count() == 1


@pytest.mark.django_db
def test_another_teams_endpoint_cannot_be_chosen(signed_in, cast):
    carol = signed_in("carol")
    carol.post("/rubrics/new/", RUBRIC)
    theirs = Endpoint.objects.create(team=cast.other_team, name="T", base_url="https://t.org/v1")
    answer = carol.post(
        "/judges/new/", {"name": "J", "endpoint": theirs.pk, "rubric": Rubric.objects.get().pk}
    )
    assert answer.status_code == 422
    assert not Judge.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("who", ["alice", "ravi", "mallory"])
def test_only_admins_define_judges(signed_in, who):
    for path in ("/judges/", "/judges/new/", "/rubrics/new/"):
        assert signed_in(who).get(path).status_code == 404


# --- where a rubric starts from ---------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("starter", list(STARTERS))
def test_a_starter_can_be_saved_as_it_is(signed_in, starter):
    carol = signed_in("carol")
    form = carol.get(f"/rubrics/new/?starter={starter}").context["form"]
    assert carol.post("/rubrics/new/", form.initial).status_code == 302
    rubric = Rubric.objects.get()
    assert rubric_text(rubric) == STARTERS[starter]
    assert 3 <= len(rubric.criteria) <= 7


@pytest.mark.django_db
def test_a_campaigns_guide_is_a_start(signed_in, small_campaign):
    carol = signed_in("carol")
    assert "?guide=small" in carol.get("/rubrics/new/").content.decode()
    form = carol.get("/rubrics/new/?guide=small").context["form"]
    assert form.initial["instructions"] == "Which response helps more?"
    assert carol.post("/rubrics/new/", form.initial).status_code == 302


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["starter=none", "guide=none", "from=0", "from=x"])
def test_a_start_that_is_not_there_is_not_found(signed_in, query):
    assert signed_in("carol").get(f"/rubrics/new/?{query}").status_code == 404


@pytest.mark.django_db
def test_another_teams_guide_or_rubric_is_no_start(signed_in, small_campaign):
    carol, dora = signed_in("carol"), signed_in("dora")
    carol.post("/rubrics/new/", RUBRIC)
    assert dora.get("/rubrics/new/?guide=small").status_code == 404
    assert dora.get(f"/rubrics/new/?from={Rubric.objects.get().pk}").status_code == 404


@pytest.mark.django_db
def test_the_mode_is_part_of_a_version_and_unknown_ones_are_refused(signed_in):
    carol = signed_in("carol")
    for mode in ("", "pairwise", "pointwise", "reference"):
        assert carol.post("/rubrics/new/", RUBRIC | {"mode": mode}).status_code == 302
    modes = list(Rubric.objects.order_by("version").values_list("version", "mode"))
    assert modes == [(1, "pairwise"), (2, "pointwise"), (3, "reference")]
    assert carol.post("/rubrics/new/", RUBRIC | {"mode": "listwise"}).status_code == 422
    form = carol.get(f"/rubrics/new/?from={Rubric.objects.get(version=3).pk}").context["form"]
    assert form.initial["mode"] == "reference"
