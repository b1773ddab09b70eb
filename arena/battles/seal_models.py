from django.db import models


class Seal(models.Model):
    """sha256 over the seal before and the digests of the votes since, both in hexadecimal; append-only.

    Votes are known by their numbers and not by a relation: a seal has to outlive a vote that someone removed.
    """

    previous = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="following"
    )
    first_vote = models.BigIntegerField(unique=True)
    last_vote = models.BigIntegerField()
    votes = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"seal {self.pk}: votes {self.first_vote} to {self.last_vote}"
