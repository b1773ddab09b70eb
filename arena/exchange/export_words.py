"""What an export says of itself: README and citation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC

from django.db.models import Max

from arena.exchange.export_extract import Extract
from arena.exchange.export_left_out import LEFT_OUT
from arena.exchange.export_schema import TABLES
from arena.leaderboards.models import Snapshot
from arena.leaderboards.plans.analysis_plan import AnalysisPlan
from arena.leaderboards.plans.looks import look_of, say_look


def citation(extract: Extract) -> str:
    campaign = extract.campaign
    title = f"{campaign.name}: battles of language models, with votes and judgments"
    day = extract.at.date().isoformat()
    # A JSON text is a YAML text.
    said = campaign.description
    abstract = [f"abstract: {json.dumps(said, ensure_ascii=False)}"] if said else []
    lines = (
        "cff-version: 1.2.0",
        "message: If you use these data, please cite them as below.",
        f"title: {json.dumps(title, ensure_ascii=False)}",
        "type: dataset",
        "authors:",
        f"  - name: {json.dumps(campaign.team.name, ensure_ascii=False)}",
        f"version: {json.dumps(day)}",
        f"date-released: {day}",
        *abstract,
        *identifiers(extract),
    )
    return "\n".join(lines) + "\n"


def identifiers(extract: Extract) -> Iterator[str]:
    """The frozen plans that boards of these data are registered under, or amended by."""
    plans = AnalysisPlan.objects.frozen().filter(campaign=extract.campaign, frozen_at__lte=extract.at)
    for number, plan in enumerate(plans.order_by("version")):
        if not number:
            yield "identifiers:"
        frozen = (
            "" if plan.frozen_at is None else plan.frozen_at.astimezone(UTC).isoformat(timespec="seconds")
        )
        yield "  - type: other"
        yield f"    value: sha256:{plan.sha256}"
        told = "; ".join((f"analysis plan {plan.version}, frozen {frozen}", *say_boards(extract, plan)))
        yield f"    description: {json.dumps(told, ensure_ascii=False)}"


def say_boards(extract: Extract, plan: AnalysisPlan) -> Iterator[str]:
    """Of each board registered under it the newest snapshot, and whether that is an interim look or final."""
    if plan.came_from_file:  # nothing is registered under it here: Snapshot.registered_plan
        return
    taken = Snapshot.objects.filter(plan=plan, taken_at__lte=extract.at)
    newest = taken.order_by("leaderboard").values("leaderboard").annotate(last=Max("pk")).values("last")
    snapshots = Snapshot.objects.filter(pk__in=newest).select_related("leaderboard__campaign", "plan")
    for snapshot in snapshots.order_by("leaderboard"):
        look = look_of(snapshot, plan)
        said = say_look(look, snapshot) if look else "judgments, of which a plan names no number"
        yield f"snapshot {snapshot.pk} of {snapshot.leaderboard.slug}, {said}"


def readme(extract: Extract, rows: dict[str, int]) -> str:
    counts = "\n".join(f"| `{table.name}` | {rows[table.name]:,} | {table.meaning} |" for table in TABLES)
    return _README.format(
        name=extract.campaign.name,
        slug=extract.campaign.slug,
        at=extract.at.isoformat(timespec="seconds"),
        counts=counts,
        licences=licences(extract),
        left_out=left_out(),
    )


def left_out() -> str:
    """By reason; names of the models and columns as the code has them."""
    reasons: dict[str, list[str]] = {}
    for name, reason in LEFT_OUT.items():
        reasons.setdefault(reason, []).append(name)
    return "\n".join(f"* {', '.join(names)}: {reason}" for reason, names in reasons.items())


def licences(extract: Extract) -> str:
    lines = [
        f"* {prompt_set}: {prompt_set.licence or 'none given'}"
        + (" (marked internal: not for passing on)" if prompt_set.is_internal else "")
        for prompt_set in extract.sets.order_by("pk")
    ]
    return "\n".join(lines) or "* no prompt set"


_README = """# {name}

Campaign `{slug}`, exported from Tiltyard at {at}.

| table | rows | holds |
|---|---|---|
{counts}

Every table stands in `csv/`, `jsonl/` and `parquet/`; `schema.json` says what each column means.

* JSONL and Parquet hold every text exactly. Columns of the kind json are JSON texts in Parquet and CSV.
* CSV is for spreadsheets: a cell that begins with `=`, `+`, `-`, `@` (of width two as well), an apostrophe,
  a tab or a line end has an apostrophe before it, unless all of it is blank. Take one leading apostrophe off
  to have the text.
* Raters have names made for this export alone; another export of the same campaign has others.
* Boards count the votes without a time in `retracted_at`, without a rule in `excluded`, and on battles of the
  kinds regular and recorded alone. `exclusions` says why a vote, or all of a rater's, is left out.
* `golds` are checks whose outcome is known beforehand. While the campaign runs, raters mustn't see them.
* What raters wrote in `notes` is as they wrote it. Read it before you pass it on.

`sha256sum --check SHA256SUMS` says whether the files are as they were exported.

To have it all in another Tiltyard, with the same boards: upload the whole .zip there (“Import a file”, “A
whole campaign”), or run `./tiltyard manage import_campaign FOLDER`, which takes a .zip of any size too. It
is a draft there, its boards are private and taken anew, its judges can't be asked on; replies of judges,
their measurements, readings, seals and models' earlier names stay here.

## What is not in here

{left_out}

## Licences of the prompt sets

{licences}
"""
