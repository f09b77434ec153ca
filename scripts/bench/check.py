"""``make bench-check``: new figures compared with the committed ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scripts.bench.matrix import Combination
from scripts.bench.results import FIGURES, Result, Results

TOLERANCE = 5  # thousandths
PASSED, WORSE, NOT_ALL_CHECKED = 0, 1, 3


@dataclass(frozen=True)
class Difference:
    """A figure before and now; None if the model did not fit."""

    of: Combination
    figure: str
    before: int | None
    now: int | None

    @property
    def is_worse(self) -> bool:
        """Whether the figure is more than ``TOLERANCE`` above the committed one, or the model does
        not fit any more."""
        if self.before is None or self.now is None:
            return self.now is None
        return 1000 * (self.now - self.before) > TOLERANCE * self.before

    @property
    def is_better(self) -> bool:
        """More than ``TOLERANCE`` below the committed figure, or it fits now."""
        if self.before is None or self.now is None:
            return self.before is None
        return 1000 * (self.before - self.now) > TOLERANCE * self.before

    @property
    def change(self) -> str:
        """The change in percent."""
        if not self.before or self.now is None:
            return ""
        return f"{100 * (self.now / self.before - 1):+.2f} %"


@dataclass(frozen=True)
class Report:
    """``unchecked`` has the reasons. ``checked`` counts combinations."""

    worse: tuple[Difference, ...]
    better: tuple[Difference, ...]
    unchecked: Mapping[Combination, str]
    notes: tuple[str, ...]
    checked: int

    @property
    def exit_code(self) -> int:
        """``NOT_ALL_CHECKED`` if nothing that was checked is worse."""
        if self.worse:
            return WORSE
        return NOT_ALL_CHECKED if self.unchecked else PASSED


def compare(
    committed: Results,
    new: Results,
    asked: Sequence[Combination],
    missing: Mapping[Combination, str],
) -> Report:
    """Compare the asked combinations. ``missing`` has the reasons why some have no new result."""
    before, now = committed.by_combination, new.by_combination
    unchecked: dict[Combination, str] = {}
    differences: list[Difference] = []
    for of in asked:
        if of not in now:
            unchecked[of] = missing[of]
        elif of not in before:
            unchecked[of] = "has no committed figures"
        elif reason := _other_model(committed, new, of.network):
            unchecked[of] = reason
        else:
            differences += _differences(before[of], now[of])
    return Report(
        tuple(d for d in differences if d.is_worse),
        tuple(d for d in differences if d.is_better),
        unchecked,
        tuple(_notes(committed, new)),
        len(asked) - len(unchecked),
    )


def _other_model(committed: Results, new: Results, network: str) -> str:
    pair = [found.networks.get(network) for found in (committed, new)]
    if all(pair) and len({one.sha256 for one in pair if one}) > 1:
        return "is not the file with which the committed figures were measured"
    return ""


def _differences(before: Result, now: Result) -> Iterator[Difference]:
    if before.figures is None or now.figures is None:
        if before.figures is not now.figures:
            values = (0 if one.figures else None for one in (before, now))
            yield Difference(now.of, "fits", *values)
        return
    for name in FIGURES:
        yield Difference(now.of, name, getattr(before.figures, name), getattr(now.figures, name))


def _notes(committed: Results, new: Results) -> Iterator[str]:
    for tool, version in new.tools.items():
        known = committed.tools.get(tool, version)
        if known != version:
            yield f"{tool} is {version}, but the committed figures are of {known}"
