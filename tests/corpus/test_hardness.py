from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given as for_all
from hypothesis import strategies as st

from arena.corpus.hardness import given, hardness_at, is_hard
from arena.corpus.label_models import LabelChange
from arena.corpus.labels import changed, labels_of, last_change, set_labels
from arena.corpus.models import HARD_CRITERIA, Prompt, PromptSet
from arena.raters.models import Team

YES, NO, UNKNOWN = True, False, None


def seven(yes: int, no: int) -> list[bool | None]:
    return [YES] * yes + [NO] * no + [UNKNOWN] * (7 - yes - no)


@pytest.mark.parametrize(
    ("said", "criteria", "at_least", "expected"),
    [
        (None, seven(6, 1), 6, True),
        (None, seven(6, 0), 6, True),
        (None, seven(5, 2), 6, False),
        (None, seven(5, 1), 6, None),
        (None, seven(0, 0), 6, None),
        (None, seven(0, 2), 6, False),
        (None, seven(5, 2), 5, True),
        (None, seven(1, 0), 1, True),
        (None, seven(6, 1), 7, False),
        (True, seven(0, 7), 6, True),
        (False, seven(7, 0), 6, False),
    ],
)
def test_a_prompt_is_hard_when_said_so_or_by_enough_criteria(said, criteria, at_least, expected):
    assert is_hard(said, criteria, at_least) is expected


flags = st.sampled_from([True, False, None])


@for_all(flags, st.lists(flags, min_size=7, max_size=7), st.integers(1, 7))
def test_what_was_said_outright_can_be_told_from_what_is_stored(said, criteria, at_least):
    stored = is_hard(said, criteria)
    told = given(stored, criteria)
    assert told == said or is_hard(None, criteria) == said
    assert is_hard(told, criteria) == stored


@for_all(flags, st.lists(flags, min_size=7, max_size=7))
def test_an_unknown_criterion_never_makes_a_prompt_not_hard(said, criteria):
    """Whatever the unknown ones turn out to be, what is known now still holds."""
    known = is_hard(said, criteria)
    for filled in ([c if c is not None else True for c in criteria], [c or False for c in criteria]):
        if known is not None:
            assert is_hard(said, filled) == known


@pytest.fixture
def prompt(db) -> Prompt:
    prompt_set = PromptSet.objects.create(team=Team.default(), name="Start")
    return Prompt.objects.create(
        prompt_set=prompt_set, external_id="p1", messages=[{"role": "user", "content": "Why?"}]
    )


def label(prompt: Prompt, **new) -> Prompt:
    set_labels({prompt.pk: new}, source=LabelChange.Source.HAND, by="carol")
    prompt.refresh_from_db()
    return prompt


@pytest.mark.django_db
def test_criteria_decide_until_somebody_says_it_outright(prompt):
    assert label(prompt, **dict.fromkeys(HARD_CRITERIA[:6], True)).is_hard is True
    assert label(prompt, specificity=False, complexity=False).is_hard is False
    assert label(prompt, is_hard=True).is_hard is True
    assert label(prompt, creativity=False).is_hard is True
    assert label(prompt, is_hard=None).is_hard is False


@pytest.mark.django_db
def test_every_change_keeps_what_stood_before(prompt):
    before = labels_of(prompt)
    label(prompt, creativity=True)
    assert set_labels({prompt.pk: {"creativity": True}}, source="hand") == 0
    change = LabelChange.objects.get()
    assert (change.was, change.by, change.source) == (before, "carol", "hand")
    label(prompt, creativity=False)
    assert last_change([prompt.pk])[prompt.pk].was["creativity"] is True


def test_a_label_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="not difficulty"):
        changed(dict.fromkeys(["is_hard", *HARD_CRITERIA]), {"difficulty": True})


@pytest.mark.django_db
def test_a_moment_finds_the_labels_of_its_day(prompt):
    label(prompt, **dict.fromkeys(HARD_CRITERIA, True))
    monday = timezone.now()
    LabelChange.objects.update(at=monday - timedelta(days=1))
    label(prompt, specificity=False, complexity=False)
    label(prompt, is_hard=True)
    label(prompt, is_hard=False)
    earlier = monday - timedelta(days=2)
    assert hardness_at(None, [prompt.pk], 6) == {prompt.pk: False}
    assert hardness_at(monday, [prompt.pk], 6) == {prompt.pk: True}
    assert hardness_at(earlier, [prompt.pk], 6) == {prompt.pk: None}


@pytest.mark.django_db
def test_another_number_of_criteria_is_another_hardness(prompt):
    label(prompt, **dict(zip(HARD_CRITERIA, [True] * 5 + [False] * 2, strict=True)))
    assert [hardness_at(None, [prompt.pk], least)[prompt.pk] for least in (5, 6)] == [True, False]
