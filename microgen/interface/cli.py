"""The command line: it parses arguments, makes one call, and prints the result."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

from microgen.base import resources
from microgen.base.errors import InternalError, MicrogenError, UsageError, likely, of_machine
from microgen.base.output import progress
from microgen.base.output.console import Console, Outcome
from microgen.building import interrupts
from microgen.interface.commands import COMMANDS
from microgen.version import __version__

VERSION = ("-V", "--version")
_HELP = ("-h", "--help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command: 0 for success, 1 if a check failed, 2 for bad input or a missing tool."""
    words = _words(sys.argv[1:] if argv is None else argv)
    # Read before the arguments are parsed, so that the parser's errors have the requested form.
    console = Console(as_json="--json" in words, verbose=bool({"-v", "--verbose"} & {*words}))
    try:
        parser = _parser(words)
        if not words:  # a person who tries the command needs the help more than an error
            parser.print_help(sys.stderr)
            return UsageError.exit_code
        args = parser.parse_args(words)
        console = Console(as_json=args.json, quiet=args.quiet, verbose=args.verbose)
        with of_machine(), progress.timed() as seconds:
            outcome = args.execute(args, console)
            if seconds:
                stages = (f"{name} {taken:.1f}" for name, taken in seconds.items())
                console.detail(f"CPU seconds: {', '.join(stages)}")
            _print(console, outcome)
    except KeyboardInterrupt as error:
        return interrupted(error)
    except Exception as error:
        # A library may turn the exception of a signal into another one, as numpy's import does.
        return interrupted(error) if interrupts.received else _failed(error, console)
    return int(outcome.exit_code)


def interrupted(error: BaseException) -> int:
    """Say that a signal ended the command; return 128 plus its number."""
    with contextlib.suppress(OSError):  # the terminal may be gone
        print("microgen: interrupted", file=sys.stderr)
    number = interrupts.received or error.args or (signal.SIGINT,)
    return 128 + int(number[0])


def _failed(error: Exception, console: Console) -> int:
    """Print the error that ended the command; return its exit code."""
    if isinstance(error, BrokenPipeError):  # the reader of our output ended, as `| head` does
        sys.stderr.close()
        return 0
    if isinstance(
        error, OSError
    ):  # such as a full disk, if no stage has an error of its own for it
        what = error.strerror or type(error).__name__
        error = MicrogenError(what, where=str(error.filename or ""))
    shown = error if isinstance(error, MicrogenError) else InternalError.of(error)
    console.error(shown)
    return shown.exit_code


def _print(console: Console, outcome: Outcome) -> None:
    """Print the result. Raises MicrogenError if it cannot be written, e.g. to a full disk."""
    try:
        console.result(outcome)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # The rest of the buffer would fail once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise MicrogenError(
            f"cannot be written: {error.strerror}", where="standard output"
        ) from error


class _Help(argparse.HelpFormatter):
    """Breaks lines between words only, because a name that is broken at its hyphen, such as
    ``cmsis-``, cannot be typed."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(text, width, break_on_hyphens=False)


class _Parser(argparse.ArgumentParser):
    """Accepts only whole names of options; a mistake is an error like any other."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False, formatter_class=_Help)

    def error(self, message: str, hint: str = "") -> NoReturn:
        command = self.prog.partition(" ")[2]
        raise UsageError(message, where=command, hint=f"{hint}see `{self.prog} --help`")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse unknown arguments here, where the command is known, not at the program's level."""
        values, unknown = super().parse_known_args(args, namespace)
        if unknown:
            known = [name for action in self._actions for name in action.option_strings]
            longer = [name for name in known if name.startswith(unknown[0])]
            hint = f"did you mean {longer[0]}? " if longer else likely(unknown[0], known)
            self.error(f"unrecognized arguments: {' '.join(unknown)}", hint)
        return values, unknown


def _words(argv: Sequence[str]) -> list[str]:
    """The arguments, with ``--help`` and ``COMMAND --help`` for ``help`` and ``help COMMAND``. Any
    other word after ``help`` is a page's name, which the command reads."""
    if list(argv) == ["help"]:
        return ["--help"]
    if len(argv) == 2 and argv[0] == "help" and argv[1] in COMMANDS:
        return [argv[1], "--help"]
    return list(argv)


def asked(argv: Sequence[str]) -> Sequence[str]:
    """The names of the commands to import, because importing all of them takes half a second: the
    command that the arguments begin with, no command for the version, which build systems query at
    each configuration, and for the list of commands, and otherwise all commands."""
    words = _words(argv)
    if not words or words[0] in (*VERSION, *_HELP):
        return ()
    return [name for name in COMMANDS if name in words[:1]] or list(COMMANDS)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="microgen",
        description="Compile a trained network to a verified microcontroller firmware project.",
        epilog="`microgen help COMMAND` shows a command's options, `microgen help TOPIC` a page of "
        "the documents; `microgen help help` lists the pages.",
    )
    parser.add_argument(*VERSION, action="version", version=f"microgen {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        what = f"there is no command {words[0]!r}; commands: {', '.join(COMMANDS)}"
        parser.error(what, likely(words[0], COMMANDS))
    imported = asked(words)
    for name in COMMANDS:
        if not imported:
            commands.add_parser(name, help=COMMANDS[name])
        if name not in imported:
            continue
        module = importlib.import_module(f"microgen.interface.commands.{name}")
        command = commands.add_parser(name, help=COMMANDS[name], description=COMMANDS[name])
        module.configure(command)
        if name in resources.pages():
            page = resources.pages()[name]
            command.epilog = f"`microgen help {page}` shows the page about it."
        command.add_argument("--json", action="store_true", help="print the result as JSON")
        command.add_argument("-q", "--quiet", action="store_true", help="print errors only")
        command.add_argument("-v", "--verbose", action="store_true", help="print details")
        command.set_defaults(execute=module.execute)
    return parser
