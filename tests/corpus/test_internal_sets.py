"""Internal texts go to internal endpoints alone: one rule, asked before every call of every kind."""

import pytest

from arena.corpus.models import PromptSet
from arena.endpoints.models import Endpoint


@pytest.mark.parametrize(
    ("set_is_internal", "endpoint_is_internal", "may_go"),
    [(True, True, True), (True, False, False), (False, True, True), (False, False, True)],
)
def test_an_internal_set_goes_to_internal_endpoints_alone(set_is_internal, endpoint_is_internal, may_go):
    endpoint = Endpoint(is_internal=endpoint_is_internal)
    assert PromptSet(is_internal=set_is_internal).may_go_to(endpoint) is may_go
    assert endpoint.may_receive(internal=set_is_internal) is may_go
