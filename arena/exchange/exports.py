"""A campaign as a folder or a zip that others can read, cite, check, and bring back."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zipfile
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from arena.campaigns.models import Campaign
from arena.exchange.export_extract import Extract
from arena.exchange.export_files import Tell, say_nothing, write_table
from arena.exchange.export_rows import rows_of
from arena.exchange.export_schema import TABLES
from arena.exchange.export_words import citation, readme
from arena.leaderboards.report.report_models import ReportText
from arena.settled import UnsettledError

SUMS = "SHA256SUMS"
UNFINISHED = ".export-"  # how the folder of one that is being written begins; what it is called follows
_PACKED_AT_ONCE = 1 << 20
LAYOUT = 3  # of the folder; raised when a reader of the old one would go wrong

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
    "plain_text",
    "hard_at_least",
)
# Times that come back with it: when it is to end, and since when its votes aren't all blind.
CAMPAIGN_TIMES = ("ends_at", "names_shown_at")
# How it went where it ran; brought back it is a draft.
CAMPAIGN_STATE = ("status", "admission", "created_at", "opened_at", "closed_at")
REPORT_FIELDS = ("capability", "sourcing", "contamination", "protocol", "baselines")


class NotExportableError(Exception):
    """args[0] says why; nothing was written."""


@dataclass(frozen=True)
class Exported:
    path: Path
    rows: dict[str, int]


def _extract(campaign: Campaign) -> Extract:
    try:
        return Extract(campaign)
    except UnsettledError as error:
        raise NotExportableError(
            f"{error}: which votes are in can't be said; export again when it is done"
        ) from error


def export(
    campaign: Campaign, out: Path, layout: str = "whole", name: str = "", tell: Tell = say_nothing
) -> Exported:
    """Whole or not at all: the folder or zip gets its name when everything is in it.

    name: of the folder within the zip, if not the zip's own.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise NotExportableError(f"{out} is there already; name a new folder, or a new file ending in .zip")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{UNFINISHED}{out.stem}-", dir=out.parent) as place:
        folder = Path(place) / (name or (out.stem if out.suffix == ".zip" else out.name))
        folder.mkdir()
        rows = _FILL[layout](_extract(campaign), folder, tell)
        (folder / SUMS).write_text(sums(folder))
        if out.suffix == ".zip":
            zipped(folder, Path(place) / out.name, tell).replace(out)
        else:
            if out.exists():
                out.rmdir()
            folder.replace(out)
    return Exported(out, rows)


def _fill_whole(extract: Extract, folder: Path, tell: Tell) -> dict[str, int]:
    counts = {table.name: write_table(table, rows_of(extract, table.name), folder, tell) for table in TABLES}
    schema = {"layout": LAYOUT, "tables": [asdict(table) for table in TABLES]}
    (folder / "schema.json").write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n")
    about = {
        "layout": LAYOUT,
        "campaign": extract.campaign.slug,
        "name": extract.campaign.name,
        **_about(extract.campaign),
        "exported_at": extract.at.isoformat(),
        "rows": counts,
    }
    (folder / "campaign.json").write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n")
    (folder / "README.md").write_text(readme(extract, counts))
    (folder / "CITATION.cff").write_text(citation(extract))
    return counts


def _about(campaign: Campaign) -> dict[str, Any]:
    told = {name: getattr(campaign, name) for name in (*CAMPAIGN_FIELDS, *CAMPAIGN_TIMES, *CAMPAIGN_STATE)}
    plain = {
        name: value.isoformat() if isinstance(value, datetime) else value for name, value in told.items()
    }
    text = ReportText.objects.filter(campaign=campaign).first()
    return plain | {"report": {name: getattr(text, name) for name in REPORT_FIELDS} if text else None}


def _fill_140k(extract: Extract, folder: Path, tell: Tell) -> dict[str, int]:
    from arena.exchange.export_140k import readme_140k, write_140k  # Arrow: see export_files.py

    counts = write_140k(extract, folder, tell)
    (folder / "README.md").write_text(readme_140k(extract, counts))
    (folder / "CITATION.cff").write_text(citation(extract))
    return counts


_FILL = {"whole": _fill_whole, "arena_140k": _fill_140k}
LAYOUTS = tuple(_FILL)


def sums(folder: Path) -> str:
    """As `sha256sum --check` reads them."""
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SUMS):
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.relative_to(folder)}\n")
    return "".join(lines)


def zipped(folder: Path, target: Path, tell: Tell = say_nothing) -> Path:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, path in enumerate(paths, start=1):
            entry = zipfile.ZipInfo.from_file(path, Path(folder.name) / path.relative_to(folder))
            entry.compress_type = zipfile.ZIP_DEFLATED
            with path.open("rb") as source, archive.open(entry, "w", force_zip64=True) as packed:
                while chunk := source.read(_PACKED_AT_ONCE):
                    packed.write(chunk)
                    tell("zip", number)
    shutil.rmtree(folder)
    return target
