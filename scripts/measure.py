"""Measures the costs, code and stack of kernels: the tables in ``microgen/kernels/measured``.

    scripts/measure.py --missing [--core CORE ...]
    scripts/measure.py [SYMBOL ...] [--core CORE ...]
    scripts/measure.py byoc|executors [OPTION ...]

``--missing`` measures the kernels that the tables lack, and changes no row that is there.
Otherwise the named kernels are measured again, or all. Cores are those that the tables have; a core
that is named may be a new one. Costs, code and stack are measured, unless options say which.
It also writes the cores of ``CPUS`` into the documents that list cores.

Costs are measured in QEMU. If all kernels are measured, so are the additions for requantizations,
and samples of each kernel that has costs; tests compare its estimates with them. Stacks of a new
core need the networks of MLPerf Tiny, whose folder MICROGEN_MODELS names. Needs the compilers and
QEMU that ``microgen doctor`` lists. The same tools give the same tables.

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
    options = _parsed(arguments)
    documents.write()
    every = not (options.costs or options.code or options.stack)
    if options.code or every:
        cores = options.core or code_bytes.CORES
        code_bytes.write(_of_sources(options, cores, CODE_BYTES, code_bytes.missing), options.jobs)
    if options.stack or every:
        cores = options.core or tables.read(STACK_BYTES).cores
        stack_bytes.write(
            _of_sources(options, cores, STACK_BYTES, stack_bytes.missing), options.jobs
        )
    if options.costs or every:
        cores = options.core or tables.read(COSTS).cores
        emulated = [core for core in cores if tables.board(core).qemu]
        _costs(options, emulated)
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
    options = parser.parse_args(arguments)
    unknown = {*options.symbols} - {kernel.symbol for kernel in tables.kernels()}
    if unknown:
        parser.error(f"there is no kernel {', '.join(sorted(unknown))}")
    if options.missing and options.symbols:
        parser.error("--missing finds the kernels itself")
    return options


def _of_sources(
    options: argparse.Namespace,
    cores: Sequence[str],
    table: str,
    missing: Callable[[str], Collection[str]],
) -> Asked:
    """The sources that are to be measured for each core. All of a core that the table lacks."""
    known = tables.read(table).cores
    named = {k.code.stem for k in tables.kernels() if k.symbol in options.symbols}
    if not options.missing:
        return {core: named if core in known else () for core in cores}
    wanted = {core: missing(core) if core in known else () for core in cores}
    return {core: stems for core, stems in wanted.items() if stems or core not in known}


def _costs(options: argparse.Namespace, cores: Sequence[str]) -> None:
    """Measure costs, then the costs that requantizations add, then the samples of both."""
    known = tables.read(COSTS).cores
    new = [core for core in cores if core not in known]
    wanted: dict[str, Sequence[str]] = dict.fromkeys(cores, options.symbols)
    if options.missing:
        wanted = {core: costs.missing(core) for core in cores if core in known}
        wanted = {core: symbols for core, symbols in wanted.items() if symbols}
    wanted |= dict.fromkeys(new, ())
    costs.write(wanted, options.jobs)
    again = [core for core in cores if core in new or not (options.missing or options.symbols)]
    if again:
        requantizations.write(again, options.jobs)
    if options.missing:
        kept = samples.load()
        lacking = {core: samples.missing(kept, core) for core in cores}
        wanted = {
            core: list({*symbols, *wanted.get(core, ())})
            for core, symbols in lacking.items()
            if symbols or core in wanted
        }
        wanted |= dict.fromkeys(new, ())
    samples.write(wanted, options.jobs)


if __name__ == "__main__":
    main(sys.argv[1:])
