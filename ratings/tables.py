"""A leaderboard as a table for people to read in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ratings.standings import Coefficient, LeaderboardFit, Standing

HEADINGS = ("rank", "competitor", "rating", "interval", "battles", "won", "lost", "tied", "")


def leaderboard_table(fit: LeaderboardFit, names: Sequence[str]) -> str:
    """Standings, coefficients, method and warnings, one under the other."""
    shared = sum(standing.tied_first for standing in fit.standings) > 1
    rows = [_row(standing, names, shared) for standing in fit.standings]
    parts = [aligned([HEADINGS, *rows])]
    if fit.coefficients:
        parts.append(aligned([_COEFFICIENTS, *(_coefficient(c) for c in fit.coefficients)]))
    parts.append("\n".join(_facts(fit)))
    if fit.warnings:
        parts.append("\n".join(f"! {warning}" for warning in fit.warnings))
    return "\n\n".join(parts)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Cells in columns: the second column to the left, all others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(w) if i == 1 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _row(s: Standing, names: Sequence[str], shared: bool) -> tuple[str, ...]:
    return (
        _places(s),
        names[s.competitor],
        _number(s.rating),
        _interval(s),
        str(s.battles),
        str(s.wins),
        str(s.losses),
        str(s.ties),
        _remark(s, shared),
    )


def _places(s: Standing) -> str:
    if s.rank_lower is None:
        return "–"
    return str(s.rank_lower) if s.rank_lower == s.rank_upper else f"{s.rank_lower}–{s.rank_upper}"


def _interval(s: Standing) -> str:
    if s.lower is None and s.upper is None:
        return "none"
    if s.upper is None:
        return f"above {_number(s.lower)}"
    if s.lower is None:
        return f"below {_number(s.upper)}"
    return f"{_number(s.lower)} to {_number(s.upper)}"


def _remark(s: Standing, shared: bool) -> str:
    """shared: whether several may be first; whoever is alone isn't tied."""
    marks = []
    if s.tied_first:
        marks.append("tied for first" if shared else "first")
    if s.unbounded_above or s.unbounded_below:
        marks.append("unbounded")
    few = [name for name in ("raters", "prompts") if getattr(s, f"too_few_{name}")]
    if few and s.battles:
        marks.append(f"too few {' and '.join(few)}")
    elif s.provisional:
        marks.append("provisional")
    if s.component:
        marks.append(f"group {s.component + 1}")
    return ", ".join(marks)


_COEFFICIENTS = ("", "coefficient", "log-odds", "interval", "points", "points if twice as much")


def _coefficient(c: Coefficient) -> tuple[str, ...]:
    interval = "none" if c.lower is None or c.upper is None else f"{c.lower:.4f} to {c.upper:.4f}"
    return ("", c.name, f"{c.estimate:.4f}", interval, _number(c.points), _number(c.per_doubling))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _facts(fit: LeaderboardFit) -> list[str]:
    options = fit.options
    raters = "" if fit.n_raters is None else f", {fit.n_raters} raters"
    prompts = "" if fit.n_prompts is None else f", {fit.n_prompts} prompts"
    clusters = "" if fit.effective_clusters is None else f"; effective clusters {fit.effective_clusters:.1f}"
    lines = [
        f"{fit.n_votes} votes{raters}{prompts}; ties {options.ties}, both bad {options.both_bad},"
        f" unstable {options.unstable}; seed {options.seed}",
        f"{options.confidence:.0%} intervals: {options.interval}, {fit.method};"
        f" design effect {fit.design_effect:.2f}{clusters}",
        f"Estimand: {fit.estimand}",
    ]
    moves = [m.largest_rank_move for m in fit.policy_moves if m.largest_rank_move is not None]
    if moves:
        lines.append(f"Other policies for draws move a rank by at most {max(moves)}")
    if fit.check is not None:
        difference = f"{fit.check.largest_difference:.6f} points"
        lines.append(f"Checked against {fit.check.engine}: largest difference {difference}")
    return lines
