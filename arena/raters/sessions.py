"""Sessions in the database, as Django keeps them; every request of a rater begins with reading one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.db.models import QuerySet
from django.utils import timezone

from arena.compiled import Compiled


@Compiled
def _live(key: str, now: datetime) -> QuerySet[Any, Any]:
    return DatabaseStore.get_model_class().objects.filter(session_key=key, expire_date__gt=now)


class SessionStore(DatabaseStore):
    def _get_session_from_db(self) -> Any:
        found = next(iter(_live(key=self.session_key or "", now=timezone.now())), None)
        if found is None:
            self._session_key = None
        return found
