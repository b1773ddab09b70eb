"""Words by which a response gives away who wrote it. Pure.

Looked for in the response alone, on whole words, whatever the case and width of the letters:

* the competitor's own name and aliases, wherever they stand;
* "I am …", "my name is …", "as …, I", "in my role as …" with the name of any model known by name or taking
  part;
* "I was made by …", "as an AI trained by …" with any maker known by name or taking part.

A bare maker ("Google Maps") or the name of another model ("a llama", "Hermes") is no leak. What is found may
still be none, as where a model is named like a word of the language; an admin can say so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

MASK = "▇▇▇"

MODELS = (
    *("alexa", "aya", "baichuan", "bard", "bing chat", "chatglm", "chatgpt", "claude", "codestral", "cohere"),
    *("command r", "copilot", "dbrx", "deepseek", "doubao", "ernie bot", "gemini", "gemma", "glm", "gpt"),
    *("grok", "hermes", "hunyuan", "internlm", "jamba", "kimi", "lamda", "le chat", "llama", "meta ai"),
    *("minimax", "mistral", "mixtral", "nemotron", "nova", "olmo", "palm", "perplexity", "phi", "pi", "qwen"),
    *("smollm", "tulu", "tülu", "vicuna", "wizardlm", "yi", "zephyr"),
    *("通义千问", "文心一言", "豆包", "智谱清言"),
)
MAKERS = (
    *("01.ai", "ai2", "ai21", "ai21 labs", "alibaba", "alibaba cloud", "allen institute for ai", "amazon"),
    *("anthropic", "apple", "baidu", "bytedance", "cohere", "databricks", "deepmind", "deepseek", "facebook"),
    *("google", "google deepmind", "hugging face", "ibm", "inflection", "lmsys", "meta", "meta ai"),
    *("microsoft", "mistral", "mistral ai", "moonshot", "moonshot ai", "nous research", "nvidia", "openai"),
    *("perplexity", "stability ai", "tencent", "tiiuae", "uc berkeley", "x.ai", "xai", "zhipu", "zhipu ai"),
    *("阿里巴巴", "阿里云", "百度", "字节跳动", "智谱", "深度求索", "月之暗面"),
)

# What may stand between "I am" and a name: spaces, quotation marks, marks of Markdown.
_GAP = r"[\s\"'“”‘’«»„*_`:,]"
_I_AM = (
    r"(?:i am|i'm|i’m|im called|my name is|my name's|call me|this is|you are talking to|you're talking to"
    r"|je suis|je m'appelle|je m’appelle|mon nom est|ich bin|ich heiße|mein name ist|soy|me llamo"
    r"|mi nombre es|sono|mi chiamo|eu sou|sou|meu nome é|ik ben|mijn naam is|jestem|я|меня зовут|أنا|اسمي"
    r"|我是|我叫|私は|저는)"
)
_FILLER = (
    r"(?:(?:a|an|the|actually|just|really|called|named|known as|of course|un|une|ein|eine|el|la|le|der|die"
    r"|das|ai|assistant|chatbot|model|language|large|based on|version of|l'assistant|l’assistant)"
    r"\W{1,3}){0,6}"
)
_MADE = (
    r"(?:developed|created|made|trained|built|designed|produced|released|fine-tuned|finetuned|provided"
    r"|powered|développée?|créée?|conçue?|entraînée?|entwickelt|erstellt|trainiert|desarrollad[oa]|cread[oa]"
    r"|entrenad[oa]|sviluppat[oa]|creat[oa]|addestrat[oa]|desenvolvid[oa]|criad[oa]|ontwikkeld|stworzon[ya]"
    r"|создан[аы]?|разработан[аы]?)"
)
_MYSELF = (
    r"(?<!\w)(?:i am|i'm|i’m|i was|i have been|i've been|i’ve been"
    r"|as an? (?:ai|artificial|large|language|assistant|chatbot|model)|je suis|j'ai été|j’ai été|ich bin"
    r"|ich wurde|soy|fui|sono|eu sou|ik ben|я)"
)
_BY = r"(?:by|par|von|por|da|de|door|przez)"
_TEAM = (
    r"(?:(?:the|a|an|team|people|researchers|engineers|company|folks|at|from|of|die|firma|l'équipe)"
    r"\W{1,3}){0,6}"
)
_AS = r"(?:as|als|en tant que|como|come|как|作为)"
_THEN_I = (
    r"(?:[,，]\s?(?:my|here|ich|je|yo|io|eu|puedo|posso|soy|sono|sou)\b"
    r"|[,，]?\s?(?:i\b|i['’]|an? (?:ai|language|large|assistant)|un modèle|un modelo|um modelo|un modello"
    r"|(?:kann|bin|habe|möchte|werde|würde|darf|muss|soll|stehe|gebe|helfe) ich\b|je\b|j['’]"
    r"|no puedo|não posso|non posso|я\b|我))"
)
_ROLE = (
    r"(?:in my (?:role|capacity|function) as|speaking as|in meiner rolle als|dans mon rôle de"
    r"|en mi papel de|nel mio ruolo di|no meu papel de|كوني|بصفتي|باعتباري)"
)
# Where the verb comes last, and where the one made is part of it.
_I_WAS = r"(?<!\w)(?:ich (?:wurde|bin|werde)|wurde ich|ik (?:ben|werd)|ben ik)"
_MADE_LAST = (
    r"(?:entwickelt|trainiert|erstellt|geschaffen|gebaut|programmiert|ontwikkeld|gemaakt|getraind|gebouwd)"
)
_MADE_ME = (
    r"(?:تم (?:تطويري|تدريبي|إنشائي|تصميمي)|جرى تطويري)\W{1,3}(?:من قبل|من طرف|بواسطة|على يد)\W{1,3}"
    r"(?:(?:شركة|فريق|مختبر)\W{1,3}){0,2}"
)
_SCRIPTS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # without spaces
_UNSPACED = re.compile(f"[{_SCRIPTS}]")


@dataclass(frozen=True)
class Leak:
    """Where it stands in the text, and the words as they stand there."""

    start: int
    end: int
    words: str


@dataclass(frozen=True)
class Names:
    """The competitor's own name and aliases; what else takes part, and who made it."""

    own: tuple[str, ...]
    models: tuple[str, ...] = ()
    makers: tuple[str, ...] = ()


def find_leaks(text: str, names: Names) -> list[Leak]:
    """In their order; none overlaps another."""
    patterns = _patterns(names)
    folded = fold(text)
    if not any(pattern.search(folded) for pattern in patterns):
        return []
    folded, places = _fold_with_places(text)
    matches = [match for pattern in patterns for match in pattern.finditer(folded)]
    # A name once claimed is told wherever it stands.
    claimed = re.compile(_any_of(match["name"] for match in matches)) if matches else None
    again = [match.span() for match in claimed.finditer(folded)] if claimed else []
    spans = sorted({*(match.span("name") for match in matches), *again})
    return [Leak(start, end, text[start:end]) for start, end in _merged(spans, places)]


def mask(text: str, leaks: Iterable[Leak]) -> str:
    """Each leak as a bar of one length: that of a name would tell."""
    parts: list[str] = []
    position = 0
    for leak in leaks:
        parts += [text[position : leak.start], MASK]
        position = leak.end
    return "".join([*parts, text[position:]])


def fold(text: str) -> str:
    """As names are compared: compatibility forms, case and what can't be seen make no difference."""
    if text.isascii():
        return text.casefold()
    return "".join(filter(_is_seen, unicodedata.normalize("NFKC", text).casefold()))


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) != "Cf"


def _fold_with_places(text: str) -> tuple[str, list[int]]:
    """The text folded character by character, and for each the place in the text it comes from."""
    if text.isascii():
        return text.casefold(), list(range(len(text)))
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for part in fold(character):
            folded.append(part)
            places.append(place)
    return "".join(folded), places


def _merged(spans: Iterable[tuple[int, int]], places: list[int]) -> Iterator[tuple[int, int]]:
    last: tuple[int, int] | None = None
    for first, behind in spans:
        start, end = places[first], places[behind - 1] + 1
        if last and start < last[1]:
            last = last[0], max(last[1], end)
            continue
        if last:
            yield last
        last = start, end
    if last:
        yield last


def _patterns(names: Names) -> tuple[re.Pattern[str], ...]:
    models = frozenset((*names.models, *names.own))
    return (*_claims(models, frozenset(names.makers)), *_bare(names.own))


@lru_cache(maxsize=16)  # of a team all competitors share them, and they take long to make
def _claims(models: frozenset[str], makers: frozenset[str]) -> tuple[re.Pattern[str], ...]:
    # A version belongs to the name: what is left of "Claude 3.5" would still tell.
    version = r"(?:[-\s]?v?\d[\w.-]*\w|[-\s]?v?\d)?"
    model = f"(?P<name>{_any_of((*MODELS, *models))}{version})"
    maker = f"(?P<name>{_any_of((*MAKERS, *makers))})"
    patterns = [
        rf"(?<!\w){_I_AM}(?:{_GAP}{{1,6}}|(?<=[是叫])){_FILLER}{_GAP}{{0,6}}{model}",
        rf"(?<!\w){_AS}\s?{model}{_THEN_I}",
        rf"(?<!\w){_ROLE}{_GAP}{{1,6}}{model}",
        rf"{_MYSELF}[^.!?\n]{{0,80}}?\b{_MADE}\W{{1,3}}{_BY}\W{{1,3}}{_TEAM}{maker}",
        rf"{_I_WAS}[^.!?\n]{{0,40}}?\b{_BY}\W{{1,3}}{_TEAM}{maker}\W{{1,3}}(?:\w+ ){{0,3}}{_MADE_LAST}\b",
        rf"{_MADE_ME}{maker}",
        rf"(?:我是|我由|由)[^。！？\n]{{0,20}}?{maker}[^。！？\n]{{0,8}}?(?:开发|训练|研发|创建|推出|打造)",
        rf"(?<!\w)my (?:creators?|developers?|makers?)\W{{1,3}}(?:is|are|at|from)?\W{{0,3}}{_TEAM}{maker}",
    ]
    return tuple(re.compile(pattern) for pattern in patterns)


@lru_cache(maxsize=1024)
def _bare(own: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    if not any(fold(name).strip() for name in own):
        return ()
    return (re.compile(f"(?P<name>{_any_of(own)})"),)


def _any_of(names: Iterable[str]) -> str:
    """Longest first, so that "mistral ai" isn't cut to "mistral"."""
    folded = {" ".join(fold(name).split()) for name in names} - {""}
    return f"(?:{'|'.join(_whole_words(name) for name in sorted(folded, key=lambda n: (-len(n), n)))})"


def _whole_words(name: str) -> str:
    """Spaces, hyphens and underscores are one; scripts without spaces have no edge of a word."""
    parts = [re.escape(part) for part in re.split(r"[\s_-]+", name) if part] or [re.escape(name)]
    before = "" if _UNSPACED.match(name[0]) else rf"(?<![^\W{_SCRIPTS}])"
    after = "" if _UNSPACED.match(name[-1]) else rf"(?![^\W{_SCRIPTS}])"
    return before + r"[\s_-]{0,3}".join(parts) + after
