"""How the times of microgen's commands grow with a network.

    python -m scripts.scale [--network NAME[:NUMBER]] [--step STEP] [--board NAME] [--optimize GOAL]
    python -m scripts.scale --counts

Prints CPU seconds of each step, scaled by a fixed piece of work that runs before it, so that
figures of fast and slow machines compare. ``--counts`` prints the calls of Python functions
for 500 and 1000 layers instead. Exit code 1 if 1000 take more than 2.3 times as many, or if a step
fails. A network can also be a file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripts.scale.networks import FLOATS, NETWORKS
from scripts.scale.steps import (
    ROOT,
    STEPS,
    Case,
    StepError,
    calls,
    scale,
    seconds,
    stored,
)

USUAL_CASES = (
    *("chain:50", "chain:200", "chain:1000", "wide:200", "wide:1000", "residual:1000"),
    *("unet:1000", "densenet:1000", "mobilenet:1000"),
    *("mobilenet_v2:224", "mobilenet_v2:512", "lstm:1000"),
    *("transformer:12", "gru:30"),
)
COUNTED = ("chain", "wide", "residual")
MOST = 2.3  # times the calls, for twice the layers
_BOARDS = ("native", "mps2_an386")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line for each network, board and goal. 0: all is done; 1: see above; 2: usage."""
    asked = _parser().parse_args(arguments)
    own = COUNTED if asked.counts else USUAL_CASES
    try:
        names = [_named(name) for name in asked.network or own]
    except ValueError as error:
        print(f"scale: {error}", file=sys.stderr)
        return 2
    boards, goals = asked.board or _BOARDS, asked.optimize or ["balanced"]
    cases = [Case(*name, board, goal) for name in names for board in boards for goal in goals]
    if asked.counts:
        failed = sum(_grows(case, asked.calls) for case in cases)
    else:
        failed = sum(_is_missing(case, asked.step or STEPS, asked.tree) for case in cases)
    return int(failed > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scale", description=(__doc__ or "").partition("\n")[0])
    known = ", ".join((*NETWORKS, *FLOATS))
    parser.add_argument(
        "--network", action="append", metavar="NAME:NUMBER|FILE", help=f"one of {known}; repeatable"
    )
    parser.add_argument("--step", action="append", choices=STEPS, help="only this; repeatable")
    parser.add_argument("--board", action="append", help=f"default: {', '.join(_BOARDS)}")
    parser.add_argument("--optimize", action="append", help="default: balanced")
    parser.add_argument("--counts", action="store_true", help="calls of Python functions")
    parser.add_argument("--calls", type=int, default=1000, help="of the larger network of --counts")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout that is measured")
    return parser


def _named(name: str) -> tuple[str, int]:
    """A network and its number; 0 for a file. Raises ValueError."""
    if Path(name).is_file():
        return name, 0
    own, _, number = name.partition(":")
    if own not in {*NETWORKS, *FLOATS}:
        raise ValueError(
            f"there is no network {own!r}: expected a file or one of {[*NETWORKS, *FLOATS]}"
        )
    return own, int(number or 1000)


def _is_missing(case: Case, steps: Sequence[str], tree: Path) -> bool:
    """Print the seconds of the steps; whether one failed."""
    print(f"{case.title:18} {case.board:12} {case.goal:9}", end="", flush=True)
    with stored(case) as folder:
        found = list(_measured(folder, case, steps, tree))
    print("  ".join(["", *found]), flush=True)
    return any("failed" in one for one in found)


def _measured(folder: Path, case: Case, steps: Sequence[str], tree: Path) -> Iterator[str]:
    """The seconds of each step. A project is generated for those that need one."""
    needs = {"build", "verify", "run"} & set(steps)
    for step in STEPS:
        if step not in steps and not (step == "generate" and needs):
            continue
        times_longer = scale()  # at each step, because other work on the machine changes it
        try:
            found = seconds(folder, case, step, tree) / times_longer
        except StepError as error:
            yield f"{step} failed: {error}"
            # The steps after a failed generation have no project.
            if step == "generate" and "plan" not in steps:
                return
            continue
        if step in steps:
            yield f"{step} {found:5.1f}"


def _grows(case: Case, count: int) -> bool:
    """Print how many times the calls of Python functions grow if the layers double; whether it is
    too often."""
    found: list[int] = []
    for number in (count // 2, count):
        one = Case(case.network, number, case.board, case.goal)
        with stored(one) as folder:
            found.append(calls(folder, one, "generate"))
    less, more = found
    ratio = more / less
    verdict = "" if ratio <= MOST else f"  more than {MOST}"
    print(
        f"{case.network:12} {case.board:12} {case.goal:9} {less:12,} {more:12,} {ratio:5.2f}"
        f"{verdict}",
        flush=True,
    )
    return ratio > MOST


if __name__ == "__main__":
    sys.exit(main())
