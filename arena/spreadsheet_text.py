"""A text as a cell of a spreadsheet, which runs one like a formula; behind an apostrophe it's text."""

MARK = "'"
# The signs of width two as well: spreadsheets read them as the others.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def escape(text: str) -> str:
    """Blank texts stay blank: nothing in them is run. A leading apostrophe gets another: all come back."""
    return f"{MARK}{text}" if text.startswith((*FORMULA_STARTS, MARK)) and not text.isspace() else text


def unescape(cell: str) -> str:
    return cell.removeprefix(MARK)
