from huey import crontab
from huey.contrib.djhuey import db_periodic_task

from arena.battles.seals import seal_votes


@db_periodic_task(crontab(minute="*"))
def seal() -> None:
    seal_votes()
