"""An export as a folder, or taken out of the archive it came in: only the files that are read, as they were.

An archive may come from anywhere. Nothing of it is written under a name of its own, what it says about itself
isn't believed, and of files that nobody reads only the sums are taken.
"""

from __future__ import annotations

import errno
import hashlib
import io
import lzma
import shutil
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from arena.counted import counted
from arena.exchange.export_schema import TABLES
from arena.exchange.exports import LAYOUT, SUMS
from arena.exchange.formats.json_rows import one_value
from arena.exchange.formats.problems import RefusedError

ABOUT = "campaign.json"
READ = frozenset({SUMS, ABOUT, *(f"jsonl/{table.name}.jsonl" for table in TABLES)})
MOST_FILES = 1_000
LARGEST_ABOUT = 8 * 1024 * 1024  # bytes; of the sums, too
_CHUNK = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT)
# What reading an archive comes to that is damaged.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    struct.error,
    ValueError,
    OverflowError,
    MemoryError,
    RuntimeError,  # of an encrypted one; NotImplementedError of a method that isn't known
    OSError,  # of a place in it that can't be
)


@contextmanager
def opened(
    source: Path | bytes, most_bytes: int, place: Path | None = None, name: str = ""
) -> Iterator[Path]:
    """The export's folder, its sums checked.

    `most_bytes`: what an archive may hold when it is unpacked; `place`: where it is; `name`: its sender's.
    """
    if isinstance(source, Path) and source.is_dir():
        check_sums(source)
        yield source
        return
    name = name or (source.name if isinstance(source, Path) else "the archive")
    packed = source if isinstance(source, Path) else io.BytesIO(source)
    if not zipfile.is_zipfile(packed):
        raise RefusedError(_not_whole(name, packed))
    stem = source.name if isinstance(source, Path) else "archive"  # a stray of it is known by the file's own
    with tempfile.TemporaryDirectory(prefix=f"{stem[:40]}.", dir=place) as unpacked:
        folder = Path(unpacked)
        try:
            with _reading():
                archive = zipfile.ZipFile(packed)
            with archive:
                _Unpacking(archive, name, folder, most_bytes).do()
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise RefusedError(f"{folder.parent} is full; make room and try again") from error
        yield folder


def _not_whole(name: str, packed: Path | IO[bytes]) -> str:
    with packed.open("rb") if isinstance(packed, Path) else nullcontext(packed) as file:
        file.seek(0)
        begins_as_zip = file.read(4) == b"PK\x03\x04"
    if begins_as_zip:
        return f"{name} has a beginning and no end: its download was cut short; download the export again"
    return f"{name} is neither the folder nor the .zip of an export"


@contextmanager
def _reading() -> Iterator[None]:
    """Around what zipfile does, and nothing of ours: it raises whatever a damaged archive leads it to."""
    try:
        yield
    except _DAMAGED as error:
        raise RefusedError(f"the archive is damaged ({error}); get the export again") from error


def digest_of(source: Path | bytes) -> str:
    """Of a folder that of its sums, which name everything in it."""
    if isinstance(source, bytes):
        return hashlib.sha256(source).hexdigest()
    file = source / SUMS if source.is_dir() else source
    if not file.is_file():
        return ""
    with file.open("rb") as opened_file:
        return hashlib.file_digest(opened_file, "sha256").hexdigest()


def about_of(folder: Path) -> dict[str, Any]:
    """What the export says of its campaign; RefusedError for one of another layout."""
    try:
        about = one_value((folder / ABOUT).read_text(encoding="utf-8"))
        layout = about["layout"]
    except KeyError as error:
        raise RefusedError(f"{ABOUT}: {error} is missing; get the export again") from error
    except (TypeError, ValueError, RecursionError, OSError) as error:
        raise RefusedError(f"{ABOUT}: {type(error).__name__}: {error}") from error
    if type(layout) is not int or layout != LAYOUT:
        raise RefusedError(f"the export has the layout {layout}; this version reads {LAYOUT}")
    return about


def check_sums(folder: Path) -> None:
    """Every file that the sums name is there and is as it was exported, and they name every file."""
    if not (folder / SUMS).is_file():
        raise RefusedError(f"{folder.name} is no export: it has no {SUMS}")
    try:
        told, files = (folder / SUMS).read_bytes(), [path for path in folder.rglob("*") if path.is_file()]
        _compare(sums_in(told), {str(path.relative_to(folder)): digest_of(path) for path in files})
    except OSError as error:
        raise RefusedError(f"{folder.name} can't be read: {error}") from error


def named_in(about: dict[str, Any]) -> str:
    """The campaign's address where it comes from."""
    slug = about.get("campaign")
    if not isinstance(slug, str) or not slug:
        raise RefusedError(f"{ABOUT}: campaign: is missing; get the export again, or name an address")
    return slug


def sums_in(told: bytes) -> dict[str, str]:
    """By the name of each file, which lies within the export's folder."""
    sums: dict[str, str] = {}
    for number, line in enumerate(told.decode("utf-8", "replace").splitlines(), start=1):
        wanted, _gap, name = line.partition("  ")
        if not _is_inside(name):
            raise RefusedError(f"{SUMS}: {name[:80]!r} is no file of an export", number)
        sums[name] = wanted
    return sums


def _compare(wanted: dict[str, str], found: dict[str, str]) -> None:
    for name, digest in wanted.items():
        if name not in found:
            raise RefusedError(f"{name} is missing from the export")
        if found[name] != digest:
            raise RefusedError(f"{name} isn't as it was exported; get the export again")
    for name in (ABOUT, *sorted(READ - {SUMS, ABOUT})):
        if name not in wanted:
            raise RefusedError(f"{name} is missing from the export, by its {SUMS}; get the export again")
    for name in sorted(found.keys() - wanted.keys() - {SUMS}):
        if not name.startswith(".") and "/." not in name:  # what file managers leave behind
            raise RefusedError(f"{name[:200]} isn't in {SUMS}: the export had no such file; take it out")


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(name) and "\\" not in name and not path.is_absolute() and ".." not in path.parts


@dataclass
class _Unpacking:
    archive: zipfile.ZipFile
    name: str
    folder: Path
    most_bytes: int
    unpacked: int = 0

    def do(self) -> None:
        entries = self._entries()
        sums = next(entry for name, entry in entries.items() if name == SUMS)
        if sums.file_size > LARGEST_ABOUT or entries.get(ABOUT, sums).file_size > LARGEST_ABOUT:
            raise RefusedError(f"{SUMS} or {ABOUT} is larger than {LARGEST_ABOUT >> 20} MB")
        self._look_for_room(entries)
        found = {name: self._take(name, entry) for name, entry in entries.items()}
        _compare(sums_in((self.folder / SUMS).read_bytes()), found)

    def _entries(self) -> dict[str, zipfile.ZipInfo]:
        """By their names within the one folder that holds an export."""
        infos = [info for info in self.archive.infolist() if not info.filename.endswith("/")]
        if len(infos) > MOST_FILES:
            raise RefusedError(
                f"the archive holds {counted(len(infos), 'file')}; an export holds {MOST_FILES:,} at most"
            )
        for info in infos:
            if not _is_inside(info.filename) or info.external_attr >> 28 == 0o12:  # a symbolic link
                raise RefusedError(f"the archive names {info.filename[:80]!r}, which is no file of an export")
        tops = [info.filename[: -len(SUMS)] for info in infos if _is_sums(info.filename)]
        if len(tops) != 1:
            raise RefusedError(f"{self.name} holds {counted(len(tops), 'export')}; one is needed")
        within = [info for info in infos if info.filename.startswith(tops[0])]
        entries = {info.filename.removeprefix(tops[0]): info for info in within}
        if len(entries) != len(within):
            raise RefusedError("the archive holds two files of one name")
        return entries

    def _take(self, name: str, entry: zipfile.ZipInfo) -> str:
        """The file's digest; the file too, if it is one that is read."""
        digest = hashlib.sha256()
        with _reading():
            packed = self.archive.open(entry)
        with packed:
            if name not in READ:
                self._copy(packed, digest, None)
            else:
                path = self.folder / name
                path.parent.mkdir(exist_ok=True)
                with path.open("wb") as file:
                    self._copy(packed, digest, file)
        return digest.hexdigest()

    def _refuse_more(self, size: int) -> None:
        if size > self.most_bytes:
            raise RefusedError(
                f"unpacked, the archive holds more than {self.most_bytes >> 20:,} MB; "
                "bring it in with manage.py import_campaign, whose --unpacked-gb says how much it may hold"
            )

    def _look_for_room(self, entries: dict[str, zipfile.ZipInfo]) -> None:
        """No entry gives more than it says."""
        self._refuse_more(sum(entry.file_size for entry in entries.values()))
        needed = sum(entry.file_size for name, entry in entries.items() if name in READ)
        if needed > (free := shutil.disk_usage(self.folder).free):
            raise RefusedError(
                f"unpacked, the archive needs {needed >> 20:,} MB in {self.folder.parent}, where "
                f"{free >> 20:,} MB are free; make room and try again"
            )

    def _copy(self, packed: IO[bytes], digest: Any, file: IO[bytes] | None) -> None:
        while chunk := _chunk(packed):
            self.unpacked += len(chunk)
            self._refuse_more(self.unpacked)
            digest.update(chunk)
            if file:
                file.write(chunk)


def _chunk(packed: IO[bytes]) -> bytes:
    with _reading():
        return packed.read(_CHUNK)


def _is_sums(name: str) -> bool:
    return name.count("/") == 1 and name.endswith(f"/{SUMS}")
