"""``microgen zoo``: many models on many boards, as a table by cause."""

from __future__ import annotations

import argparse
import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from microgen.base.errors import MicrogenError
from microgen.base.output.console import Console, Outcome
from microgen.compiler.codegens import selection
from microgen.interface.commands import compiling
from microgen.options import Options
from microgen.target import board as boards

_SCHEDULER = "use the Dask cluster of this scheduler, such as tcp://10.0.0.1:8786"
_ADDRESS = re.compile(r"(?:tcp|tls|ws|wss)://(?:[\w.-]+|\[[\da-fA-F:.]+\]):([0-9]{1,5})")
_LIMIT = "give up a model on a board after S seconds (default 900)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("list", metavar="LIST", type=Path, help="a text file with a path per line; # is a comment")
    default = compiling.DEFAULT_BOARD
    add("--boards", default=default, metavar="A,B", help=f"the boards (default {default})")
    output = "the folder of the results (default zoo-out); what it has is not done again"
    add("-o", "--output", type=Path, default=Path("zoo-out"), metavar="DIR", help=output)
    add("--scheduler", type=_address, metavar="ADDRESS", help=_SCHEDULER)
    add("--workers", type=_positive, metavar="N", help="processes here (default: one per CPU)")
    add("--timeout", type=_seconds, default=900.0, metavar="S", help=_LIMIT)
    compiling.add_planning(parser)
    compiling.add_generating(parser)


def execute(args: argparse.Namespace, console: Console) -> Outcome:
    """Work on the missing cells, write the table and print its causes; exit 1 if a cell failed."""
    from microgen.interface.zoo import listing, runs, table
    from microgen.interface.zoo.results import Store

    plan = runs.ZooPlan(
        listing.read(args.list),
        _boards(args.boards),
        _options(args),
        args.timeout,
        args.scheduler or "",
        args.workers or _cores(),
    )
    _refuse_unused(args)
    store = Store(args.output)
    store.open()
    with console.step(f"running {len(plan.entries)} models on {', '.join(plan.boards)}"):
        rows = runs.run(plan, store, console.note)
    summary = table.data(rows, plan.options)
    store.write("zoo.json", {"schema": 1, **summary})
    store.write_text("zoo.md", table.markdown(rows))
    store.write("seconds.json", table.seconds(rows))
    has_failed = any(by_status["failed"] for by_status in summary["counts"].values())
    data = {"ok": not has_failed, "output": str(args.output), **summary}
    text = [*table.text(rows), f"{args.output / 'zoo.md'} and zoo.json have every cell"]
    return Outcome(data, text, exit_code=1 if has_failed else 0)


def _boards(text: str) -> tuple[str, ...]:
    """The boards' names, each once. Raises BoardError for an unknown one."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise MicrogenError("names no board", where="--boards", hint="`microgen boards` lists them")
    return tuple(boards.load(name).name for name in names)


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """The options as plain data. Raises MicrogenError for values that do not exist."""
    chosen = Options(**compiling.selected(args))
    folder = str(Path(chosen.codegen_path).resolve()) if chosen.codegen_path else ""
    selection.chosen(chosen.codegen, chosen.codegen_option, folder)
    options = {**asdict(chosen), "codegen_path": folder}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in options.items() if k != "name"}


def _cores() -> int:
    """The number of cores that this process may use, or of all cores if the system does not
    tell."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def _refuse_unused(args: argparse.Namespace) -> None:
    if args.scheduler and args.workers:
        raise MicrogenError(
            "is for a cluster on this machine",
            where="--workers",
            hint="leave it out, or leave out --scheduler",
        )


def _address(text: str) -> str:
    """The scheduler's address. Refuses an address that Dask cannot parse, because Dask's client for
    such an address hangs when it is closed."""
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match[1]) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not an address such as tcp://10.0.0.1:8786")
    return text


def _positive(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 4096:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 1e7:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds
