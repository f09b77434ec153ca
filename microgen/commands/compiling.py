"""The arguments of every command that compiles a model, and the options made from them."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Any

from microgen import options
from microgen.errors import MicrogenError
from microgen.formats import byte_sizes
from microgen.target import targets

DEFAULT_BOARD = "mps2_an386"
_NAME = "of the module (default: default); of several models the modules' (default: the files')"
_BUDGET = "as 12288, 12K or 1M (K is 1024); refuse what exceeds it"
_POOL = "a memory pool, tried in order; further :const, :align=N, :targets=A+B, :memory=REGION"


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model's file."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="a .tflite or a .relay file")


def add_codegen_path(parser: argparse.ArgumentParser) -> None:
    """Where a command that compiles nothing finds codegens that are not installed."""
    parser.add_argument(
        "--codegen-path",
        action="append",
        default=[],
        metavar="DIR",
        type=Path,
        help="a folder with code generators besides those installed; may be repeated",
    )


def add_planning(parser: argparse.ArgumentParser) -> None:
    """Add the options that affect a memory plan."""
    add = parser.add_argument
    add("--executor", default="aot", help="aot (default) | graph")
    add("--planner", default="optimal", help=f"{' | '.join(options.PLANNERS)} (default optimal)")
    add("--numerics", default="litert", help="whose roundings: litert (default) | tflm")
    add("--alignment", type=size, default=16, metavar="N", help="of buffers, in bytes (default 16)")
    add("--pool", action="append", default=[], metavar="NAME:SIZE[:external]", help=_POOL)
    add("--workspace-io", action="store_true", help="plan inputs and outputs in the workspace")
    add(
        "--target",
        action="append",
        default=[],
        metavar=targets.SYNTAX,
        help="a target besides the host, which nodes of the model name; may be repeated",
    )
    add("--codegen", default="builtin", metavar="NAME[,NAME]", help="code generators, best first")
    add(
        "--codegen-option",
        action="append",
        default=[],
        metavar="NAME.KEY=VALUE",
        help="an option of a code generator; may be repeated",
    )
    add("--codegen-path", default="", metavar="DIR", help="a folder with more code generators")
    add("--composite", action="store_true", help="let codegens take patterns of several operators")
    add("--merge-regions", action="store_true", help="merge neighbouring regions of a codegen")


def refuse_planning(args: argparse.Namespace) -> None:
    """Raise MicrogenError if one of these options, or a board, is given: a project has its own."""
    parser = argparse.ArgumentParser()
    add_planning(parser)
    defaults = {"board": None, **vars(parser.parse_args([]))}
    given = [name for name, value in defaults.items() if getattr(args, name) != value]
    if given:
        raise MicrogenError(
            "a project's plan is that which it was generated with",
            where=f"--{given[0].replace('_', '-')}",
            hint="leave it out, or give the model instead of the project",
        )


def add_generating(parser: argparse.ArgumentParser) -> None:
    """Add the other options of ``generate``."""
    add = parser.add_argument
    add("--name", default="", metavar="NAME[,NAME]", help=_NAME)
    add("--interface", default="c", help="c (default) | packed")
    add(
        "--unpacked-api",
        type=_switch,
        metavar="on|off",
        help="operators take plain pointers (default: on for --interface c, off for packed)",
    )
    add("--link-params", type=_switch, default=True, metavar="on|off", help="default: on")
    add(
        "--constant-alignment",
        type=size,
        default=4,
        metavar="N",
        help="of constants, in bytes (default 4)",
    )
    add("--optimize", default="balanced", help=f"{' | '.join(options.OPTIMIZE)}: what to favour")
    add("--ram", type=size, default=0, metavar="BYTES", help=f"budget, {_BUDGET}")
    add("--flash", type=size, default=0, metavar="BYTES", help=f"budget, {_BUDGET}")
    add("--toolchain", default="gcc", help="gcc (default) | llvm")
    add("--emit", default="", metavar="llvm-ir", help="also write this form of the operators")


def size(text: str) -> int:
    """The value of an argument in bytes."""
    try:
        return byte_sizes.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _switch(text: str) -> bool:
    """The value of an on|off argument."""
    if text not in ("on", "off"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither 'on' nor 'off'")
    return text == "on"


def selected(args: argparse.Namespace) -> dict[str, Any]:
    """The options that the arguments name, as keywords of ``compile_model``."""
    given = vars(args)
    names = [f.name for f in fields(options.Options) if f.name != "codegen"]
    chosen = {name: given[name] for name in names if name in given}
    codegen = tuple(filter(None, args.codegen.split(",")))
    given_options = tuple(args.codegen_option)
    lists = {"codegen": codegen, "codegen_option": given_options, "targets": tuple(args.target)}
    return {**chosen, **lists}
