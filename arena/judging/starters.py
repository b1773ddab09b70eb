"""Rubrics to start from, one for each kind of task: copied into the form and edited there. Pure."""

from __future__ import annotations

from arena.judging.prompting import REFERENCE, Criterion, RubricText

GENERAL = RubricText(
    "Judge as a careful reader who asked this prompt and will act on a response. First say what each "
    "response gets right and wrong; only then score. Be confident only where you could check a claim.",
    (
        Criterion("factual", "Are its claims true? A wrong claim weighs more than a missing one."),
        Criterion("relevant", "Does it do what was asked, all of it, and nothing else?"),
        Criterion("reasoning", "Do its conclusions follow from what it says?"),
        Criterion("clarity", "Would its reader understand it at once, whatever its length?"),
    ),
)
CODE = RubricText(
    "Judge as a programmer who has to merge this code. Run it in your head with an ordinary input, an empty "
    "one and an odd one before you score. Comments and prose around the code count for what they explain.",
    (
        Criterion("correct", "Does it give the right result, for the edges of its input too?"),
        Criterion("complete", "Does it do all that was asked, in the language and form asked for?"),
        Criterion("sound", "Are errors, resources and hostile input handled where they matter?"),
        Criterion("readable", "Could a colleague change it without asking?"),
    ),
)
WRITING = RubricText(
    "Judge as an editor who has one place for one text. Read both to the end before you score. "
    "Taste is allowed; say what on the page your judgment rests on.",
    (
        Criterion("brief", "Does it keep to what was asked: form, tone, audience, limits?"),
        Criterion("voice", "Is it specific and alive, or could anybody have written it about anything?"),
        Criterion("craft", "Do its sentences, rhythm and images hold?"),
        Criterion("shape", "Does it begin, move and end on purpose?"),
        Criterion("language", "Is its language free of mistakes?"),
    ),
)
FACTUAL = RubricText(
    "Judge which response says what the reference says. Go through the statements of the reference one by "
    "one: does each response state, miss or contradict it? What goes beyond it counts only if it is wrong.",
    (
        Criterion("agrees", "How much of the reference's substance does it state?"),
        Criterion("uncontradicted", "Is it free of statements that contradict the reference?"),
        Criterion("direct", "Can the answer be found without searching for it?"),
    ),
    REFERENCE,
)
STARTERS = {"general": GENERAL, "code": CODE, "writing": WRITING, "factual": FACTUAL}


def from_guide(guide: str) -> RubricText:
    """What people are asked, as a judge's instructions; the general criteria stand beside it."""
    return RubricText(guide, GENERAL.criteria)
