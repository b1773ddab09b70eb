import re

import pytest
from django.test import Client


@pytest.fixture
def cast_votes():
    """cast_votes(client, 3): the rater in this browser votes three times, a tie each."""

    def cast(client: Client, times: int = 1) -> None:
        for _time in range(times):
            page = client.get("/campaigns/small/battle/").content.decode()
            battle, key = re.search(r'data-battle="([^"]+)" data-key="([^"]+)"', page).groups()
            answer = client.post(f"/battles/{battle}/vote/", {"outcome": "tie", "key": key})
            assert answer.status_code == 303

    return cast
