"""Starting texts of a guide, one for each kind of task. An admin changes them to fit the campaign."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class StartingText:
    name: str
    label: Promise
    text: Promise


GENERAL = StartingText(
    "general",
    _("Anything: a first guide"),
    _("""You see one prompt and two responses. Which would you rather have received?

- **A** or **B** is better: you'd pick it over the other.
- **Tie**: both are good, and you couldn't choose.
- **Both bad**: neither is of use.

Length alone is no merit. Check facts where you can.

# Examples

- One response answers, the other asks a needless question back: the one that answers is better.
- Both are right, one says it in three clear sentences and the other in a page: the short one is better, \
unless the prompt asked for detail.
- Both are right and equally clear: a tie.
- One is polite and wrong, the other curt and wrong: both bad.
"""),
)

FACTS = StartingText(
    "facts",
    _("Questions with a right answer"),
    _("""You see one question and two responses. Which one would leave you better informed?

1. **Right before everything.** A response that gets the answer wrong loses against one that gets it right, \
however well it is written.
2. **Honest.** Saying “I'm not sure” beats an invented fact, a made-up source or a false date.
3. **Useful.** Among right responses, take the one that is clearer and has what you need and no more.

- **Tie**: both right, and you couldn't choose.
- **Both bad**: both wrong, or neither answers the question.

Look things up when you can't tell. If you still can't tell, skip the battle.

# Examples

- A gives the right year; B gives the wrong one with three paragraphs of background: A.
- A and B give the right figure, A with its unit and B without: A.
- A refuses to answer a harmless question, B answers it right: B.
- A and B name different winners, and both are wrong: both bad.
"""),
)

WRITING = StartingText(
    "writing",
    _("Writing: letters, stories, summaries"),
    _("""You see one writing task and two texts. Which would you rather put your name to?

- **Does what was asked**: kind of text, length, tone, reader, language, and every point that was named.
- **Reads well**: clear, in order, in fitting words, without filler and empty phrases.
- **Is its own**: for stories and speeches, prefer a real idea to a safe pattern.

- **Tie**: you would take either.
- **Both bad**: you would write it anew rather than mend one of them.

Judge the text, not the headings and bullets around it, unless the task asked for them.

# Examples

- The task asks for at most 100 words; A has 95 and B a fine 300: A.
- A mentions all three points, B two of them a little more elegantly: A.
- A is faultless and forgettable, B has one typing error and a thought that stays: B.
- A summary that adds something the source doesn't say is worse than one that leaves a detail out.
"""),
)

CODE = StartingText(
    "code",
    _("Code"),
    _("""You see one programming task and two responses. Which would you rather build on?

1. **Works.** Code that does what was asked beats code that doesn't. Run it if you can, else trace it by hand.
2. **Answers the question asked**, in the language and with the libraries that were named.
3. **Safe**: no data loss, no open door, no invented function or package.
4. **Readable**: plain names, no needless parts, an explanation that says why.

- **Tie**: both work, and you would merge either.
- **Both bad**: neither works, or you'd lose more time mending than writing it yourself.

If you can't judge the language, skip the battle.

# Examples

- A is right for all input but the empty list, B for all: B, if an empty list can happen.
- A calls a function that doesn't exist; B is longer and works: B.
- Both work; A is ten lines, B is fifty with options nobody asked for: A.
- A explains the bug well but shows no fix; B fixes it without a word: B, if the fix was what was asked for.
"""),
)

TRANSLATION = StartingText(
    "translation",
    _("Translation"),
    _("""You see one text to translate and two translations. Which would you send out?

1. **Says the same**: nothing left out, nothing added, names and figures right.
2. **Is good language**: a native reader wouldn't notice that it is a translation.
3. **Keeps the register**: formal stays formal, a joke stays a joke; terms are the same throughout.

- **Tie**: you would send either.
- **Both bad**: you would translate it anew.

If you don't read both languages well, skip the battle.

# Examples

- A reads beautifully and drops a “not”; B is a little stiff and right: B.
- A translates a company's name, B leaves it: B.
- Both are right; A keeps the polite form of address throughout, B changes in the middle: A.
"""),
)

STARTING_TEXTS = {one.name: one for one in (GENERAL, FACTS, WRITING, CODE, TRANSLATION)}


def is_starting_text(text: str) -> bool:
    """Whether a guide still reads as it was offered."""
    return text.strip() in {str(one.text).strip() for one in STARTING_TEXTS.values()}
