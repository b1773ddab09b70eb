"""Replies as judges write them, each with its one right reading: a position, or a failure with its detail."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from arena.judging.prompting import Criterion

CRITERIA = (
    Criterion("factual", "Are the claims true?"),
    Criterion("relevant", "Does it do what was asked?"),
    Criterion("clarity", "Can it be followed, whatever its length?"),
)


@dataclass(frozen=True)
class Reply:
    name: str
    content: Any
    expected: str
    finish_reason: str | None = "stop"
    refusal: str | None = None


def scores(first: Any = 4, second: Any = 3) -> dict[str, Any]:
    return {
        side: {criterion.name: value for criterion in CRITERIA}
        for side, value in (("first", first), ("second", second))
    }


def verdict(winner: Any = "first", reason: Any = "It is right.", **changes: Any) -> str:
    return json.dumps({"reason": reason, "scores": scores(), "winner": winner} | changes)


def without(*names: str) -> str:
    return json.dumps({k: v for k, v in json.loads(verdict()).items() if k not in names})


FIRST, SECOND, TIE = verdict("first"), verdict("second"), verdict("tie")
HUGE = 10_000_000

READABLE = [
    Reply("plain first", FIRST, "first"),
    Reply("plain second", SECOND, "second"),
    Reply("plain tie", TIE, "tie"),
    Reply("white space around", f"\n\n  {FIRST}\t\n", "first"),
    Reply("no finish reason", SECOND, "second", None),
    Reply("an unknown finish reason", SECOND, "second", "eos"),
    Reply("json fence", f"```json\n{SECOND}\n```", "second"),
    Reply("bare fence", f"```\n{SECOND}\n```", "second"),
    Reply("fence that is never closed", f"```json\n{TIE}", "tie"),
    Reply("fence in capitals and carriage returns", f"```JSON\r\n{FIRST}\r\n```\r\n", "first"),
    Reply("prose before", f"Here is my verdict, as you asked:\n{FIRST}", "first"),
    Reply("prose after", f"{SECOND}\nI hope that this helps.", "second"),
    Reply("prose with an apostrophe before", f"It's close, and I don't mind 5\" screens. {SECOND}", "second"),
    Reply("prose with braces before", "With f(x) = {x if x > 0} the first fails. " + SECOND, "second"),
    Reply("an open brace before", "The set { 1, 2 is never closed. " + FIRST, "first"),
    Reply("an open object before", 'It starts with {"a": [1, 2 and stops. ' + FIRST, "first"),
    Reply("LaTeX before", r"\frac{a}{b} < \sqrt{\frac{c}{d}} so " + TIE, "tie"),
    Reply("capitals", verdict("FIRST"), "first"),
    Reply("a capital and spaces", verdict("  Second \n"), "second"),
    Reply("a zero-width space before", verdict("\u200bfirst"), "first"),
    Reply("a byte order mark after", verdict("tie\ufeff"), "tie"),
    Reply("a soft hyphen inside", verdict("sec\u00adond"), "second"),
    Reply("right-to-left marks around", verdict("\u200fFirst\u200e"), "first"),
    Reply("a byte order mark before the object", "\ufeff" + FIRST, "first"),
    Reply(
        "text parts", [{"type": "text", "text": FIRST[:40]}, {"type": "text", "text": FIRST[40:]}], "first"
    ),
    Reply("output_text parts", [{"type": "output_text", "text": SECOND}], "second"),
    Reply(
        "an image part beside", [{"type": "image_url", "image_url": {}}, {"type": "text", "text": TIE}], "tie"
    ),
    Reply("strings as parts", [FIRST[:7], FIRST[7:]], "first"),
    Reply("reasoning before", f"<think>The second looks better at first.</think>\n{FIRST}", "first"),
    Reply("a draft in the reasoning", f"<think>Perhaps {SECOND}? No.</think>{FIRST}", "first"),
    Reply("reasoning without its opening tag", f"Perhaps {SECOND}? No.\n</think>\n\n{FIRST}", "first"),
    Reply("two pieces of reasoning", f"<think>{SECOND}</think> hm <think>{TIE}</think> {FIRST}", "first"),
    Reply("thinking in capitals", f"<THINKING>{SECOND}</THINKING>{TIE}", "tie"),
    Reply("a closing tag quoted in the reason", verdict("first", "It prints </think> as asked."), "first"),
    Reply("the same in a fence", "```json\n" + verdict("second", "Both say </think>.") + "\n```", "second"),
    Reply("reasoning, then a quoted tag", "<think>hm</think>" + verdict("tie", "</think>"), "tie"),
    Reply(
        "braces in the reason",
        verdict("second", 'The first writes {"winner": "first"} into its code.'),
        "second",
    ),
    Reply("markup in the reason", verdict("first", "[[B]] and **A** and ```json"), "first"),
    Reply("a raw line break in the reason", FIRST.replace("It is", "It\nis"), "first"),
    Reply("escaped quotes in the reason", verdict("first", 'It says "second", and \\" too.'), "first"),
    Reply("an empty reason", verdict("first", ""), "first"),
    Reply("keys in another order", json.dumps(dict(reversed(json.loads(SECOND).items()))), "second"),
    Reply("more keys than asked", verdict("first", confidence=0.9, notes=[1, {"x": None}]), "first"),
    Reply("the same verdict twice", f"{FIRST}\nAgain: {FIRST}", "first"),
    Reply("first thoughts in prose, then the other", f"[[A]] looked right at first.\n{SECOND}", "second"),
    Reply("an off-menu draft, then a verdict", f"{verdict('A')}\nSorry: {SECOND}", "second"),
    Reply("an object of something else before", 'The first returned {"status": "ok"}. ' + FIRST, "first"),
    Reply("an object of something else after", FIRST + ' {"usage": 12}', "first"),
    Reply("a list of one", f"[{TIE}]", "tie"),
    Reply("single quotes", str(json.loads(FIRST)), "first"),
    Reply("single quotes in a fence with prose", f"Sure:\n```python\n{json.loads(SECOND)}\n```", "second"),
    Reply("a trailing comma in single quotes", str(json.loads(TIE))[:-1] + ",}", "tie"),
    Reply("lowest and highest scores", verdict("first", scores=scores(5, 1)), "first"),
    Reply("a winner with the lower scores", verdict("first", scores=scores(1, 5)), "first"),
    Reply("a verdict verbalised in German", verdict("second", "Der zweite ist besser. Größe 5 €"), "second"),
    Reply("a surrogate pair in escapes", verdict("first", "well done 👍"), "first"),
    Reply("a lone surrogate in the reason", FIRST.replace("right", "\ud83d"), "first"),
    Reply("an escaped lone surrogate", FIRST.replace("right", "\\ud83d"), "first"),
    Reply("half a megabyte of reason", verdict("tie", "x" * 500_000), "tie"),
    Reply("a thousand braces before", "{" * 1000 + FIRST, "first"),
]

UNREADABLE = [
    Reply("refusal field", None, "refused", "stop", "I can't compare these."),
    Reply("refusal field beside a verdict", FIRST, "refused", "stop", "No."),
    Reply("content filter", None, "refused", "content_filter"),
    Reply("content filter beside a verdict", FIRST, "refused", "content_filter"),
    Reply("content filter in capitals", "", "refused", "CONTENT_FILTER"),
    Reply("another server's word for it", None, "refused", "refusal"),
    Reply("cut in the reason", FIRST[:20], "truncated", "length"),
    Reply("cut after the winner", FIRST, "truncated", "length"),
    Reply("reasoning ate all tokens", None, "truncated", "length"),
    Reply("another server's word for length", FIRST[:30], "truncated", "max_tokens"),
    Reply("nothing", None, "parse_failed:empty"),
    Reply("empty text", "", "parse_failed:empty"),
    Reply("white space", " \n\t\u00a0", "parse_failed:empty"),
    Reply("no parts", [], "parse_failed:empty"),
    Reply("only parts that are no text", [{"type": "image_url"}, 7, None], "parse_failed:empty"),
    Reply("a number as content", 1, "parse_failed:empty"),
    Reply("a verdict as an object", json.loads(FIRST), "parse_failed:empty"),
    Reply("a tool call in place of text", None, "parse_failed:empty", "tool_calls"),
    Reply("a refusal in prose", "I'm sorry, but I can't help with that.", "parse_failed:no_json"),
    Reply("one word", "first", "parse_failed:no_json"),
    Reply("the word tie", "tie", "parse_failed:no_json"),
    Reply("letters in brackets", "[[A]]", "parse_failed:no_json"),
    Reply("two different letters", "[[A]] looked right at first, but [[B]].", "parse_failed:no_json"),
    Reply("two marks and a final line", "…than my own: [[B>A]]. Final: [[A>B]]", "parse_failed:no_json"),
    Reply("a conclusion in prose", "So [B]'s is slightly better overall.", "parse_failed:no_json"),
    Reply("a grade", "GRADE: C … no reason to downgrade: insufficient", "parse_failed:no_json"),
    Reply("a concrete proposal by Pro", "The concrete proposal of Pro wins.", "parse_failed:no_json"),
    Reply("only key and value", '"winner": "first"', "parse_failed:no_json"),
    Reply("an object cut off without a word", FIRST[:-12], "parse_failed:no_json"),
    Reply("an object cut off in a fence", "```json\n" + FIRST[:-1], "parse_failed:no_json"),
    Reply("JSON inside a string", json.dumps(FIRST), "parse_failed:no_json"),
    Reply("XML", "<verdict><winner>first</winner></verdict>", "parse_failed:no_json"),
    Reply("typographic quotes", FIRST.replace('"', "”"), "parse_failed:no_json"),
    Reply("code in place of a literal", "{'winner': __import__('os').getcwd()}", "parse_failed:no_json"),
    Reply("a set", "{'first'}", "parse_failed:no_json"),
    Reply("an integer of 5,000 digits", FIRST.replace("4", "4" * 5000, 1), "parse_failed:bad_scores"),
    Reply("reasoning that never ends", f"<think>I lean to {SECOND}, but", "parse_failed:reasoning_only"),
    Reply("reasoning and nothing else", f"<think>{FIRST}</think>", "parse_failed:no_json"),
    Reply("reasoning reopened", f"<think>a</think><think>{FIRST}", "parse_failed:reasoning_only"),
    Reply("an empty object", "{}", "parse_failed:no_winner"),
    Reply("no winner", without("winner"), "parse_failed:no_winner"),
    Reply("another name for the winner", verdict().replace("winner", "Winner"), "parse_failed:no_winner"),
    Reply("a verdict wrapped in another object", f'{{"verdict": {FIRST}}}', "parse_failed:no_winner"),
    Reply("the schema in place of a verdict", '{"type": "object"}', "parse_failed:no_winner"),
    Reply("winner null", verdict(None), "parse_failed:off_menu"),
    Reply("winner empty", verdict(""), "parse_failed:off_menu"),
    Reply("winner unknown", verdict("unknown"), "parse_failed:off_menu"),
    Reply("winner A", verdict("A"), "parse_failed:off_menu"),
    Reply("winner model_1", verdict("model_1"), "parse_failed:off_menu"),
    Reply("winner model_a", verdict("model_a"), "parse_failed:off_menu"),
    Reply("winner 1", verdict(1), "parse_failed:off_menu"),
    Reply("winner true", verdict(True), "parse_failed:off_menu"),
    Reply("winner in a list", verdict(["first"]), "parse_failed:off_menu"),
    Reply("winner with a word too many", verdict("first response"), "parse_failed:off_menu"),
    Reply("both winners", verdict("first or second"), "parse_failed:off_menu"),
    Reply("not first", verdict("not first"), "parse_failed:off_menu"),
    Reply("tied", verdict("tied"), "parse_failed:off_menu"),
    Reply("both bad", verdict("both_bad"), "parse_failed:off_menu"),
    Reply("INCORRECT for CORRECT", verdict("infirst"), "parse_failed:off_menu"),
    Reply("a full-width word", verdict("ｆｉｒｓｔ"), "parse_failed:off_menu"),
    Reply("a Cyrillic letter", verdict("f\u0456rst"), "parse_failed:off_menu"),
    Reply("off-menu after a verdict", f"{FIRST}\nFinal: {verdict('Z')}", "parse_failed:off_menu"),
    Reply("the form copied", verdict(reason="<why, in a few sentences>"), "parse_failed:echoed_form"),
    Reply("no reason", without("reason"), "parse_failed:bad_reason"),
    Reply("reason null", verdict(reason=None), "parse_failed:bad_reason"),
    Reply("reason in a list", verdict(reason=["a", "b"]), "parse_failed:bad_reason"),
    Reply("no scores", without("scores"), "parse_failed:bad_scores"),
    Reply("scores null", verdict(scores=None), "parse_failed:bad_scores"),
    Reply("scores in a list", verdict(scores=[4, 3]), "parse_failed:bad_scores"),
    Reply("scores of one side", verdict(scores={"first": scores()["first"]}), "parse_failed:bad_scores"),
    Reply("scores as sums", verdict(scores={"first": 4, "second": 3}), "parse_failed:bad_scores"),
    Reply("a criterion missing", verdict(scores={"first": {"factual": 4}, "second": {"factual": 3}}),
          "parse_failed:bad_scores"),
    Reply("a score of zero", verdict(scores=scores(0, 3)), "parse_failed:bad_scores"),
    Reply("a score of six", verdict(scores=scores(4, 6)), "parse_failed:bad_scores"),
    Reply("a score of ten of ten", verdict(scores=scores(10, 9)), "parse_failed:bad_scores"),
    Reply("a negative score", verdict(scores=scores(-1, 3)), "parse_failed:bad_scores"),
    Reply("a score and a half", verdict(scores=scores(4.5, 3)), "parse_failed:bad_scores"),
    Reply("a score of 4.0", verdict(scores=scores(4.0, 3)), "parse_failed:bad_scores"),
    Reply("a score in quotes", verdict(scores=scores("4", 3)), "parse_failed:bad_scores"),
    Reply("a score of true", verdict(scores=scores(True, 3)), "parse_failed:bad_scores"),
    Reply("a score null", verdict(scores=scores(None, 3)), "parse_failed:bad_scores"),
    Reply("a score not a number", verdict(scores=scores(float("nan"), 3)), "parse_failed:bad_scores"),
    Reply("an infinite score", verdict(scores=scores(float("inf"), 3)), "parse_failed:bad_scores"),
    Reply("a score of 1e3", FIRST.replace("4", "1e3", 1), "parse_failed:bad_scores"),
    Reply("two verdicts that differ", f"{FIRST}\nor rather\n{SECOND}", "parse_failed:conflict"),
    Reply("win and tie", f"{TIE} {FIRST}", "parse_failed:conflict"),
    Reply("an echoed verdict of a candidate", f"The first says {FIRST}. {SECOND}", "parse_failed:conflict"),
    Reply("a list of two", f"[{FIRST}, {SECOND}]", "parse_failed:conflict"),
    Reply("a verdict inside an object that breaks off", f'{{"echo": {FIRST}, "winner": "sec',
          "parse_failed:no_json"),
    Reply("a verdict inside an object that is no JSON", f'{{"echo": {FIRST}, winner: "second"}}',
          "parse_failed:no_json"),
    Reply("a verdict inside one with a long number", f'{{"n": {"9" * 5000}, "echo": {FIRST}}}',
          "parse_failed:no_winner"),
    Reply("three verdicts", f"{FIRST}{SECOND}{FIRST}", "parse_failed:conflict"),
    Reply("the winner named twice", FIRST[:-1] + ', "winner": "second"}', "parse_failed:duplicate_key"),
    Reply("the scores named twice", FIRST[:-1] + ', "scores": {}}', "parse_failed:duplicate_key"),
    Reply("a criterion named twice", FIRST.replace('"factual": 4', '"factual": 1, "factual": 4'),
          "parse_failed:duplicate_key"),
    Reply("the winner twice in single quotes", str(json.loads(FIRST))[:-1] + ", 'winner': 'second'}",
          "parse_failed:duplicate_key"),
    Reply("ten megabytes of nothing", "x" * HUGE, "parse_failed:too_long"),
    Reply("ten megabytes before a verdict", " \n." + "x" * HUGE + FIRST, "parse_failed:too_long"),
    Reply("ten megabytes of surrogates", "\ud800" * HUGE, "parse_failed:too_long"),
    Reply("deep nesting", '{"a":' * 100_000, "parse_failed:tangled"),
    Reply("deep lists", '{"winner": ' + "[" * 500_000, "parse_failed:tangled"),
    Reply("a megabyte of braces", "{" * 1_000_000, "parse_failed:no_json"),
    Reply("a megabyte of opened objects", '{"' * 500_000, "parse_failed:tangled"),
    Reply("opened objects before a long string", '{"a": "' * 2_000 + "x" * 900_000, "parse_failed:no_json"),
    Reply("a tower of minus signs", "{'winner': " + "-" * 19_000 + "1}", "parse_failed:no_json"),
]  # fmt: skip

REPLIES = READABLE + UNREADABLE
