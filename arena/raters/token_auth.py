"""Tokens by which programs act for a person: stored as hashes, shown once, revocable."""

from __future__ import annotations

from typing import Any

from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox.auth import TokenAuthentication as KnoxAuthentication
from rest_framework.exceptions import AuthenticationFailed


class TokenAuthentication(KnoxAuthentication):
    def authenticate_credentials(self, token: bytes) -> Any:
        """What can't be a token is refused before the database is asked, which takes no U+0000."""
        if not (token.isascii() and token.decode("ascii").isprintable()):
            raise AuthenticationFailed
        return super().authenticate_credentials(token)


class TokenScheme(KnoxTokenScheme):
    target_class = "arena.raters.token_auth.TokenAuthentication"
