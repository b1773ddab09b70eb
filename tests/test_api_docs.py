"""The API's page for people: every address of the OpenAPI document, with its words and parameters."""

import re

import pytest
from django.urls import reverse


@pytest.mark.parametrize("address", ["/api/v1/", "/api/v1/docs/"])
def test_every_address_of_the_api_is_listed_for_everyone(client, address, db):
    document = client.get("/api/v1/schema/", HTTP_ACCEPT="application/vnd.oai.openapi+json").json()
    answer = client.get(address)
    page = answer.content.decode()
    assert answer.status_code == 200 and answer["Content-Type"].startswith("text/html")
    told = re.findall(r"<h3><code>([A-Z]+) ([^<]+)</code></h3>", page)
    described = [
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method in operations
        if method != "parameters"
    ]
    assert sorted(told) == sorted(described) and len(told) > 15
    for operations in document["paths"].values():
        for operation in operations.values():
            assert operation.get("description"), operation["operationId"]
            for parameter in operation.get("parameters", []):
                assert f"<code>{parameter['name']}</code>" in page
    assert 'href="/api/v1/schema/"' in page and "pd.read_parquet" in page and "curl -H" in page


def test_it_says_what_a_parameter_is_and_where_it_goes(client, db):
    page = " ".join(client.get("/api/v1/").content.decode().split())
    row = r"<code>slug</code></th><td>string</td><td>address</td>"
    assert re.search(row, page)
    assert re.search(r"<code>limit</code></th><td>integer</td><td>question</td>", page)
    assert "multipart/form-data" in page


def test_a_post_is_refused(client, db):
    assert client.post("/api/v1/").status_code == 405


def test_tokens_and_missing_addresses_lead_to_it(client, signed_in):
    assert f'href="{reverse("api")}"' in signed_in("ravi").get(reverse("token-list")).content.decode()
    assert "/api/v1/ lists" in client.get("/api/v1/nothing/").json()["detail"]
