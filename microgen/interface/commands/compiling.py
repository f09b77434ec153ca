"""The arguments of every command that compiles a model, and the options made from them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from microgen import options
from microgen.base.errors import MicrogenError
from microgen.base.formats import byte_sizes, frequencies
from microgen.target import targets

T = TypeVar("T")

DEFAULT_BOARD = "mps2_an386"
MODEL = "a .tflite, .onnx or .relay file, or C source with the bytes of a .tflite file"
BOARD = "a board's name (`microgen boards` lists them), or the path of its folder or its board.yml"
_GIVEN = (
    "the folder or board.yml of the project's board, if it names an emulator or other programs and "
    "is neither installed nor in MICROGEN_BOARDS"
)
_SIGNATURE = "the network to use of a file that has several, by its name (default: the first)"
_DIM = "an open size, for example batch=4 or INPUT:AXIS=64 (default: batch 1); may be repeated"
_BIND = "make an .onnx model's input a constant: a .npy file, a number or a list; may be repeated"
_ROUNDS = "the most rounds of a loop whose number of rounds depends on data; may be repeated"
_STATE = "let an output of an .onnx model be an input of the next inference; may be repeated"
_BUDGET = "for example 12288, 12K or 1M (K is 1024); a project that exceeds it is refused"
_POOL = (
    "add a memory pool; pools are tried in the order given; it may end in :const, :align=N, "
    ":targets=A+B and :memory=REGION"
)


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model's file."""
    parser.add_argument("model", metavar="MODEL", type=Path, help=MODEL)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options with which a model is read: one of a file's networks, sizes, parameters."""
    add = parser.add_argument
    add("--signature", default="", metavar="NAME", help=_SIGNATURE)
    add("--dim", action="append", default=[], metavar="NAME=N", help=_DIM)
    add("--max-rounds", action="append", default=[], metavar="LAYER=N", help=_ROUNDS)
    add("--bind", action="append", default=[], metavar="INPUT=VALUE", help=_BIND)
    add("--state", action="append", default=[], metavar="OUT=IN", help=_STATE)


def add_given_board(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the board of a project, if that board is not installed."""
    parser.add_argument("--board", type=Path, metavar="PATH", help=_GIVEN)


def add_codegen_path(parser: argparse.ArgumentParser) -> None:
    """Add the option with which a command that compiles nothing finds more code generators."""
    parser.add_argument(
        "--codegen-path",
        action="append",
        default=[],
        metavar="DIR",
        type=Path,
        help="a folder with code generators, in addition to those installed; may be repeated",
    )


def add_planning(parser: argparse.ArgumentParser) -> None:
    """Add the options that affect a memory plan."""
    add_reading(parser)
    add = parser.add_argument
    add("--executor", default="aot", help="what runs the operators: aot (default) | graph")
    goals = " | ".join(options.OPTIMIZE)
    add("--optimize", default="balanced", help=f"what to favour: {goals} (default balanced)")
    file = "a file, or the K-th of a front, that says how layers are computed (`plan --explore -o`)"
    add("--schedule", default="", metavar="FILE|FRONT.json#K", help=file)
    planners = " | ".join(options.PLANNERS)
    add("--planner", default="optimal", help=f"memory planner: {planners} (default optimal)")
    profiles = "litert (default) | tflm; .onnx models always round as onnx"
    add("--numerics", default="", help=f"round as this runtime does: {profiles}")
    alignment = "alignment of buffers in bytes (default 16)"
    add("--alignment", type=size, default=16, metavar="N", help=alignment)
    add("--pool", action="append", default=[], metavar="NAME:SIZE[:external]", help=_POOL)
    add("--workspace-io", action="store_true", help="plan inputs and outputs in the workspace")
    rows = "rows of the input that the caller feeds at a time (default: it passes whole inputs)"
    add("--input-rows", type=int, default=0, metavar="N", help=rows)
    _add_ports(parser)
    add(
        "--target",
        action="append",
        default=[],
        metavar=targets.SYNTAX,
        help="a target in addition to the host, for nodes that name it; may be repeated",
    )
    add("--codegen", default="builtin", metavar="NAME[,NAME]", help="code generators, best first")
    add(
        "--codegen-option",
        action="append",
        default=[],
        metavar="NAME.KEY=VALUE",
        help="an option of a code generator; may be repeated",
    )
    folder = "a folder with code generators, in addition to those installed"
    add("--codegen-path", default="", metavar="DIR", help=folder)
    add("--composite", action="store_true", help="let codegens take patterns of several operators")
    add("--merge-regions", action="store_true", help="merge neighbouring regions of one codegen")


def _add_ports(parser: argparse.ArgumentParser) -> None:
    """Add the options that let tensors lie in the caller's buffers."""
    add = parser.add_argument
    outputs = "tensors may lie in an output's buffer until it is written (default: on to save RAM)"
    add("--output-workspace", type=_switch, metavar="on|off", help=outputs)
    consumed = "run may overwrite its inputs, in which further tensors may lie"
    add("--input-consumed", action="store_true", help=consumed)
    headroom = "the caller lets run overwrite as many bytes in front of each input, too (default 0)"
    add("--input-headroom", type=size, default=0, metavar="N", help=headroom)
    overlay = "the output lies in the input's buffer, and the caller passes one for both"
    add("--output-overlay", action="store_true", help=overlay)


def refuse_planning(args: argparse.Namespace) -> None:
    """Raise MicrogenError if one of these options or a board is given. A project has its own."""
    # A parser without arguments gives the defaults, so that no list of them is needed.
    parser = argparse.ArgumentParser()
    add_planning(parser)
    defaults = {"board": None, **vars(parser.parse_args([]))}
    changed = [name for name, value in defaults.items() if getattr(args, name) != value]
    if changed:
        raise MicrogenError(
            "cannot change the plan of a project that is already generated",
            where=f"--{changed[0].replace('_', '-')}",
            hint="leave it out, or give the model instead of the project",
        )


def add_generating(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``generate`` that do not affect the plan."""
    add = parser.add_argument
    add("--interface", default="c", help="the model's entry functions: c (default) | packed")
    add(
        "--unpacked-api",
        type=_switch,
        metavar="on|off",
        help="operators take plain pointers (default: on for --interface c, off for packed)",
    )
    linked = "link the parameters into the firmware (default: on)"
    add("--link-params", type=_switch, default=True, metavar="on|off", help=linked)
    add(
        "--constant-alignment",
        type=size,
        default=4,
        metavar="N",
        help="alignment of constants in bytes (default 4)",
    )
    add("--ram", type=size, default=0, metavar="BYTES", help=f"RAM budget, {_BUDGET}")
    add("--flash", type=size, default=0, metavar="BYTES", help=f"flash budget, {_BUDGET}")
    stack = "bytes of stack (default: what the code takes, and the margin; or what the board says)"
    add("--stack", type=size, metavar="BYTES", help=stack)
    margin = f"bytes of stack for nested exceptions (default {options.STACK_MARGIN})"
    add("--stack-margin", type=size, default=options.STACK_MARGIN, metavar="BYTES", help=margin)
    add("--toolchain", default="gcc", help="compiler of the firmware: gcc (default) | llvm")
    add("--emit", default="", metavar="llvm-ir", help="also write the operators in this form")


def options_of(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """The values of the named arguments, as keywords."""
    return {name: getattr(args, name) for name in names}


def value(parse: Callable[[str], T]) -> Callable[[str], T]:
    """The argparse type of an argument whose text ``parse`` reads."""

    def parsed(text: str) -> T:
        # argparse shows the text of this error only, and replaces the text of a ValueError.
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parsed


clock = value(frequencies.parse)  # in Hz
size = value(byte_sizes.parse)  # in bytes


def _switch(text: str) -> bool:
    """The value of an on|off argument."""
    if text not in ("on", "off"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither 'on' nor 'off'")
    return text == "on"


def selected(args: argparse.Namespace) -> dict[str, Any]:
    """The options that the arguments name, as keywords of ``compile_model``."""
    values = vars(args)
    # Options whose arguments a command does not have keep their defaults.
    names = [f.name for f in fields(options.Options) if f.name != "codegen"]
    chosen = {name: values[name] for name in names if name in values}
    codegen = tuple(filter(None, args.codegen.split(",")))
    given_options = tuple(args.codegen_option)
    lists = {"codegen": codegen, "codegen_option": given_options, "targets": tuple(args.target)}
    return {**chosen, **lists}
