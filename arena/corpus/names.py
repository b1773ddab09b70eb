import unicodedata


def name_key(name: str) -> str:
    """Two names that look alike are one competitor."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
