"""A file that another discards while it is being read is no error of ours."""

import uuid

import pytest

from arena.exchange import uploads, views
from arena.exchange.models import Import


@pytest.fixture
def waiting(cast):
    name = uuid.uuid4().hex
    (uploads.folder() / name).write_text("id,prompt\np1,Hello?\n")
    told = {"kind": "prompts", "target": "Set", "file_name": "prompts.csv", "stored_as": name, "options": {}}
    return Import.objects.create(team=cast.team, state=Import.State.PREVIEWED, **told)


@pytest.fixture
def going(waiting, monkeypatch):
    """going(with_record) lets the file go, and the record with it, after the look for it."""
    whole = views.layout_of

    def go(with_record: bool) -> None:
        def read(record):
            uploads.path_of(record).unlink(missing_ok=True)
            if with_record:
                Import.objects.filter(pk=record.pk).delete()
            monkeypatch.setattr(views, "layout_of", whole)
            return uploads.path_of(record).open("rb")

        monkeypatch.setattr(views, "layout_of", read)

    return go


@pytest.mark.parametrize("act", ["", "reread/"])
@pytest.mark.parametrize("with_record", [False, True])
def test_the_page_is_shown_anew_or_is_no_more(waiting, going, signed_in, act, with_record):
    going(with_record)
    carol, path = signed_in("carol"), f"/imports/{waiting.public_id}/"
    answer = carol.post(path + act, {}) if act else carol.get(path)
    if with_record:
        assert answer.status_code == 404
    else:
        assert (answer.status_code, answer.headers["Location"]) == (302, path)
        assert carol.get(path).status_code == 200
