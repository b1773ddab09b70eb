"""Codes of cautions, for programs: a sentence may be worded anew, its code stays. docs/api.md has them."""

from __future__ import annotations

from arena.leaderboards.sentences import LEFT_OUT
from ratings import warnings_in_words as fits

OTHER = "other"

# Phrases by which a fit's own warnings are known: a stored snapshot has their words alone. The first counts.
WARNINGS = (
    ("The intervals assume independent votes", "independent_votes"),
    ("All votes come from one rater", "one_rater"),
    ("All votes come from one prompt", "one_prompt"),
    ("Too few raters:", "too_few_raters"),
    ("Too few prompts:", "too_few_prompts"),
    (fits.STAND_IN, "single_rater_or_prompt"),
    (fits.GROUPS, "groups_apart"),
    (fits.NO_RATING, "models_without_votes"),
    (fits.PROVISIONAL, "models_unbounded"),
    (f"by too few raters {fits.UNTESTED}", "models_with_few_raters"),
    (f"on too few prompts {fits.UNTESTED}", "models_with_few_prompts"),
    (fits.NO_INTERVAL, "models_without_interval"),
    (fits.THE_MEAN, "models_not_in_mean"),
    (fits.UNRANKED, "models_unranked"),
    ("The fastchat transform", "fastchat_transform"),
    ("resamples left a model nothing but wins", "resamples_without_bound"),
    ("left out by the policies", "left_out_by_policies"),
    ("No feature of style is left", "style_not_controlled"),
    ("Style control leaves out", "style_feature_left_out"),
    ("further battles were judged by a model", "judged_by_model"),
    ("of the judge's votes were left out", "judge_votes_left_out"),
    ("People's votes alone, for ", "judge_not_used"),
)
OURS = (
    *("simulated", "registered", "exploratory", "amended", "renamed"),
    *(
        "rank_sets",
        "one_judge",
        "panel",
        "few_votes",
        "interim_look",
        "later_look",
        "models_chosen",
        "left_out_after_votes",
        "no_judge_heard",
    ),
    *("same_texts", "same_texts_independent", "prompts_unknown", "own_error", "draws"),
    *("order_hangs", "order_not_searched"),
    *("joined_by_one", "met_few", "hub"),
    *("one_sided", "sparse_feature", "no_moves", "moves_mean", "blank_responses"),
    *(f"left_out_{reason}" for reason in LEFT_OUT),
)
CODES = (*OURS, *(code for _phrase, code in WARNINGS), OTHER)
"""Of a snapshot's cautions; pages about some models alone have more, which say a model's flags in words."""

GRAVE = (
    *("renamed", "few_votes", "interim_look", "later_look", "models_chosen", "groups_apart"),
    *("one_rater", "one_prompt", "too_few_raters", "too_few_prompts", "independent_votes"),
    *("blank_responses", "sparse_feature", "one_sided"),
)
"""Those that a reader must know before any number; a page names them before all others."""
LIGHT = ("draws", "own_error", "moves_mean", "no_moves", "hub", "met_few")
"""Those that change little of what is read."""


def weight_of(code: str) -> int:
    """By which cautions are listed, the gravest first; those of one weight stay in order."""
    if code in GRAVE:
        return 0
    return 2 if code in LIGHT or code.startswith("left_out_") else 1


def code_of(warning: str) -> str:
    """Of a fit's own warning; `other` for one in words of an older version."""
    return next((code for phrase, code in WARNINGS if phrase in warning), OTHER)
