"""A number with its noun, for what isn't translated: messages of commands, errors, logs."""


def counted(number: int, noun: str, nouns: str = "") -> str:
    """ "1 vote", "1,200 votes"; `nouns` where the plural takes more than an s."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"
