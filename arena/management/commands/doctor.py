from django.core.management.base import BaseCommand

from arena.operation.doctor import examine


class Command(BaseCommand):
    help = "Looks the installation over and says what to do; exit code 1 if anything is wrong."
    requires_system_checks = []

    def handle(self, **_):
        findings = list(examine())
        for finding in findings:
            mark = "ok " if finding.is_sound else "FIX"
            self.stdout.write(f"{mark}  {finding.subject}: {finding.words}")
        raise SystemExit(0 if all(finding.is_sound for finding in findings) else 1)
