"""A small file may hold much, or what Python has no value for: it is refused with words before it is held."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arena.exchange.formats import parquet
from arena.exchange.formats.problems import RefusedError
from arena.exchange.formats.reading import read


def test_a_small_parquet_file_that_unfolds_to_too_much_is_refused_before_it_is_held():
    written = io.BytesIO()
    texts = pa.array(["x" * 1_900_000] * 600).dictionary_encode()
    pq.write_table(
        pa.table({"id": [f"p{n}" for n in range(600)], "prompt": texts}), written, compression="zstd"
    )
    assert len(written.getvalue()) < 100_000
    found = read("prompts", written.getvalue(), "p.parquet")
    assert [problem.reason for problem in found.errors] == [
        "written out, the Parquet file holds more than 100 MB: split it"
    ]


def test_a_parquet_file_of_nothing_a_million_times_over_is_refused_too():
    written = io.BytesIO()
    pq.write_table(pa.table({"id": pa.nulls(3_000_000, pa.string())}), written)
    assert len(written.getvalue()) < 100_000
    with pytest.raises(RefusedError, match="more than 100 MB"):
        list(parquet.rows(written.getvalue()))


def test_one_text_that_is_packed_well_is_refused_before_it_is_unpacked():
    written = io.BytesIO()
    table = pa.table({"id": ["p1"], "prompt": ["x" * 150_000_000]})
    pq.write_table(table, written, compression="zstd", use_dictionary=False)
    assert len(written.getvalue()) < 100_000
    with pytest.raises(RefusedError, match="more than 100 MB"):
        next(parquet.rows(written.getvalue()))


def test_what_a_file_holds_is_measured_by_its_own_size_too(monkeypatch):
    monkeypatch.setattr(parquet, "LEAST", 0)
    written = io.BytesIO()
    pq.write_table(pa.table({"id": ["p1", "p2"], "prompt": ["One?", "Two?"]}), written)
    assert [values["id"] for _number, values in parquet.rows(written.getvalue())] == ["p1", "p2"]


@pytest.mark.parametrize(
    "odd",
    [
        pa.array([-(2**31)], pa.int32()).cast(pa.date32()),
        pa.array([10**14], pa.int64()).cast(pa.duration("s")),
        pa.array([2**52], pa.int64()).cast(pa.timestamp("ms")),
    ],
    ids=["date", "duration", "time"],
)
def test_values_that_no_calendar_knows_are_refused_with_words(odd):
    written = io.BytesIO()
    pq.write_table(pa.table({"id": ["p1"], "prompt": ["Why?"], "odd": odd}), written)
    found = read("prompts", written.getvalue(), "p.parquet")
    assert [problem.reason.partition(":")[0] for problem in found.errors] == [
        "the Parquet file can't be read"
    ]
