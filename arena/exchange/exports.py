"""A campaign as a folder or a zip that others can read, cite, check, and bring back."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

from arena.campaigns.models import Campaign
from arena.exchange.export_extract import Extract
from arena.exchange.export_files import write_table
from arena.exchange.export_rows import rows_of
from arena.exchange.export_schema import TABLES

SUMS = "SHA256SUMS"
LAYOUT = 2  # of the folder; raised when a reader of the old one would go wrong

# How the campaign was set up, in plain JSON; the rest of it is of the installation it ran in.
CAMPAIGN_FIELDS = (
    "description",
    "reveal",
    "quota",
    "repeat_share",
    "gold_share",
    "target_votes",
    "target_raters",
    "leak_policy",
    "hard_at_least",
)


class NotExportableError(Exception):
    """args[0] says why; nothing was written."""


@dataclass(frozen=True)
class Exported:
    path: Path
    rows: dict[str, int]


def export(campaign: Campaign, out: Path) -> Exported:
    """Whole or not at all: the folder or zip gets its name when everything is in it."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise NotExportableError(f"{out} is there already; name a new folder, or a new file ending in .zip")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".export-", dir=out.parent) as place:
        folder = Path(place) / (out.stem if out.suffix == ".zip" else out.name)
        folder.mkdir()
        rows = fill(campaign, folder)
        if out.suffix == ".zip":
            zipped(folder, Path(place) / out.name).replace(out)
        else:
            if out.exists():
                out.rmdir()
            folder.replace(out)
    return Exported(out, rows)


def fill(campaign: Campaign, folder: Path) -> dict[str, int]:
    extract = Extract(campaign)
    counts = {table.name: write_table(table, rows_of(extract, table.name), folder) for table in TABLES}
    schema = {"layout": LAYOUT, "tables": [asdict(table) for table in TABLES]}
    (folder / "schema.json").write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n")
    about = {
        "layout": LAYOUT,
        "campaign": campaign.slug,
        "name": campaign.name,
        **{name: getattr(campaign, name) for name in CAMPAIGN_FIELDS},
        "exported_at": extract.at.isoformat(),
        "rows": counts,
    }
    (folder / "campaign.json").write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n")
    (folder / "README.md").write_text(_readme(extract, counts))
    (folder / "CITATION.cff").write_text(_citation(extract))
    (folder / SUMS).write_text(sums(folder))
    return counts


def sums(folder: Path) -> str:
    """As `sha256sum --check` reads them."""
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SUMS):
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.relative_to(folder)}\n")
    return "".join(lines)


def zipped(folder: Path, target: Path) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(path, Path(folder.name) / path.relative_to(folder))
    shutil.rmtree(folder)
    return target


def _citation(extract: Extract) -> str:
    campaign = extract.campaign
    title = f"{campaign.name}: battles of language models, with votes and judgments"
    day = extract.at.date().isoformat()
    # A JSON text is a YAML text.
    lines = (
        "cff-version: 1.2.0",
        "message: If you use these data, please cite them as below.",
        f"title: {json.dumps(title, ensure_ascii=False)}",
        "type: dataset",
        "authors:",
        f"  - name: {json.dumps(campaign.team.name, ensure_ascii=False)}",
        f"version: {json.dumps(day)}",
        f"date-released: {day}",
        f"abstract: {json.dumps(campaign.description or title, ensure_ascii=False)}",
    )
    return "\n".join(lines) + "\n"


def _readme(extract: Extract, rows: dict[str, int]) -> str:
    counts = "\n".join(f"| `{table.name}` | {rows[table.name]:,} | {table.meaning} |" for table in TABLES)
    licences = "\n".join(
        f"* {prompt_set}: {prompt_set.licence or 'none given'}"
        + (" (marked internal: not for passing on)" if prompt_set.is_internal else "")
        for prompt_set in extract.sets.order_by("pk")
    )
    return _README.format(
        name=extract.campaign.name,
        slug=extract.campaign.slug,
        at=extract.at.isoformat(timespec="seconds"),
        counts=counts,
        licences=licences or "* no prompt set",
    )


_README = """# {name}

Campaign `{slug}`, exported from Tiltyard at {at}.

| table | rows | holds |
|---|---|---|
{counts}

Every table stands in `csv/`, `jsonl/` and `parquet/`; `schema.json` says what each column means.

* JSONL and Parquet hold every text exactly. Columns of the kind json are JSON texts in Parquet and CSV.
* CSV is for spreadsheets: a cell that begins with `=`, `+`, `-`, `@`, an apostrophe, a tab or a line end has
  an apostrophe before it. Take one leading apostrophe off to have the text.
* Raters have names made for this export alone; another export of the same campaign has others.
* Boards count the votes without a time in `retracted_at`, without a rule in `excluded`, and on battles of the
  kinds regular and recorded alone. `exclusions` says why a vote, or all of a rater's, is left out.
* `golds` are checks whose outcome is known beforehand. While the campaign runs, raters mustn't see them.
* What raters wrote in `notes` is as they wrote it. Read it before you pass it on.

`sha256sum --check SHA256SUMS` says whether the files are as they were exported.

To have it all in another Tiltyard, with the same boards: `./tiltyard manage import_campaign FOLDER`.

## Licences of the prompt sets

{licences}
"""
