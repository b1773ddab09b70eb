"""What a redaction couldn't take out at once is taken out within a minute."""

from huey import crontab
from huey.contrib.djhuey import db_periodic_task

from arena.corpus.redaction_models import Sweep
from arena.corpus.sweeping import sweep_up


@db_periodic_task(crontab(minute="*"))
def sweep_up_by_the_minute() -> None:
    sweep_up(Sweep.objects.all())
