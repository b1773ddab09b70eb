"""An import as its page goes through it: look, read it otherwise, confirm."""

from django.test import Client
from django.urls import reverse

from arena.exchange.models import Import


def page_of(visitor: Client, record: Import) -> str:
    answer = visitor.get(reverse("import", args=[record.public_id]))
    assert answer.status_code == 200
    return answer.content.decode().replace("&#" + "x27;", "'")


def reread(visitor: Client, record: Import, **changed) -> Import:
    """Sends the form as the page shows it, with some fields changed."""
    form = visitor.get(reverse("import", args=[record.public_id])).context["form"]
    data = {name: form[name].initial for name in form.fields if form[name].initial} | changed
    answer = visitor.post(reverse("import-reread", args=[record.public_id]), data)
    assert answer.status_code == 302, answer.content.decode()
    record.refresh_from_db()
    return record


def confirm(visitor: Client, record: Import) -> Import:
    visitor.post(reverse("import-confirm", args=[record.public_id]))
    record.refresh_from_db()
    assert record.state == "done", (record.state, record.errors)
    return record
