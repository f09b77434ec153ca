"""Measures what kernels take: the tables in ``microgen/kernels/measured``.

    scripts/measure.py --missing [--core CORE ...]
    scripts/measure.py [SYMBOL ...] [--core CORE ...]
    scripts/measure.py byoc|executors [OPTION ...]

``--missing`` measures what the tables lack of the tree's kernels, and leaves the rest as it is.
Otherwise the named kernels are measured again, or all. Cores are those that the tables have; a core
that is named may be a new one. Costs, code and stack are measured, unless options say which.
Documents that list cores get those of ``CPUS``.

Costs are measured in QEMU, and with those of all kernels what requantizations add to them. So are
samples of each kernel that has costs, with which tests compare these. Stacks of a new core need the
networks of MLPerf Tiny, whose folder MICROGEN_MODELS names. Needs the compilers and QEMU that
``microgen doctor`` lists. The same tools give the same tables.

``byoc`` and ``executors`` print the tables of docs/guides/byoc.md and docs/guides/executors.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from microgen.kernels.measured import CODE_BYTES, COSTS, STACK_BYTES
from microgen.target.cpu import CPUS
from scripts.measuring import (
    byoc,
    code_bytes,
    costs,
    documents,
    executors,
    requantizations,
    samples,
    stack_bytes,
    tables,
)

PRINTED = {"byoc": byoc.main, "executors": executors.main}
# By core: the names of kernels, or none for all.
Asked: TypeAlias = Mapping[str, Collection[str]]


def main(arguments: Sequence[str]) -> None:
    """Measure, and write the tables."""
    if arguments and arguments[0] in PRINTED:
        PRINTED[arguments[0]](arguments[1:])
        return
    asked = _parsed(arguments)
    documents.write()
    every = not (asked.costs or asked.code or asked.stack)
    if asked.code or every:
        cores = asked.core or code_bytes.CORES
        code_bytes.write(_of_sources(asked, cores, CODE_BYTES, code_bytes.missing))
    if asked.stack or every:
        cores = asked.core or tables.read(STACK_BYTES).cores
        stack_bytes.write(_of_sources(asked, cores, STACK_BYTES, stack_bytes.missing), asked.jobs)
    if asked.costs or every:
        cores = asked.core or tables.read(COSTS).cores
        emulated = [core for core in cores if tables.board(core).qemu]
        _costs(asked, emulated)
        for core in set(cores) - {*emulated}:
            print(f"{core}: no costs, as QEMU emulates no board with it")


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("symbols", nargs="*", metavar="SYMBOL", help="kernels; all by default")
    parser.add_argument("--missing", action="store_true", help="only what the tables lack")
    cores = [cpu.name for cpu in CPUS.values() if cpu.architecture in code_bytes.GCC]
    parser.add_argument("--core", nargs="+", metavar="CORE", choices=cores, help=", ".join(cores))
    parser.add_argument("--costs", action="store_true", help="costs, and samples of them")
    parser.add_argument("--code", action="store_true", help="bytes of code")
    parser.add_argument("--stack", action="store_true", help="bytes of stack")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (%(default)s)")
    asked = parser.parse_args(arguments)
    unknown = {*asked.symbols} - {kernel.symbol for kernel in tables.kernels()}
    if unknown:
        parser.error(f"there is no kernel {', '.join(sorted(unknown))}")
    if asked.missing and asked.symbols:
        parser.error("--missing finds the kernels itself")
    return asked


def _of_sources(
    asked: argparse.Namespace,
    cores: Sequence[str],
    table: str,
    missing: Callable[[str], Collection[str]],
) -> Asked:
    """The sources that are to be measured for each core. All of a core that the table lacks."""
    known = tables.read(table).cores
    named = {k.code.stem for k in tables.kernels() if k.symbol in asked.symbols}
    if not asked.missing:
        return {core: named if core in known else () for core in cores}
    wanted = {core: missing(core) if core in known else () for core in cores}
    return {core: stems for core, stems in wanted.items() if stems or core not in known}


def _costs(asked: argparse.Namespace, cores: Sequence[str]) -> None:
    """Measure costs, then the costs that requantizations add, then the samples of both."""
    known = tables.read(COSTS).cores
    new = [core for core in cores if core not in known]
    wanted: dict[str, Sequence[str]] = dict.fromkeys(cores, asked.symbols)
    if asked.missing:
        wanted = {core: costs.missing(core) for core in cores if core in known}
        wanted = {core: symbols for core, symbols in wanted.items() if symbols}
    wanted |= dict.fromkeys(new, ())
    costs.write(wanted, asked.jobs)
    again = [core for core in cores if core in new or not (asked.missing or asked.symbols)]
    if again:
        requantizations.write(again, asked.jobs)
    if asked.missing:
        kept = samples.load()
        lacking = {core: samples.missing(kept, core) for core in cores}
        wanted = {
            core: list({*symbols, *wanted.get(core, ())})
            for core, symbols in lacking.items()
            if symbols or core in wanted
        }
        wanted |= dict.fromkeys(new, ())
    samples.write(wanted, asked.jobs)


if __name__ == "__main__":
    main(sys.argv[1:])
