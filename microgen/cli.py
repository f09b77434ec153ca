"""The command line: arguments, one call, a printed result."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Sequence

from microgen.console import Console, Outcome
from microgen.errors import MicrogenError
from microgen.version import __version__

# Each is a module of microgen.commands with HELP, configure(parser) and execute(args, console).
COMMANDS = (
    "generate",
    "build",
    "verify",
    "run",
    "export",
    "inspect",
    "partition",
    "plan",
    "boards",
    "ops",
    "codegens",
    "doctor",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 done, 1 a check failed, 2 bad input or missing tool."""
    args = _parser().parse_args(argv)
    console = Console(as_json=args.json, quiet=args.quiet, verbose=args.verbose)
    try:
        outcome = args.execute(args, console)
        _print(console, outcome)
    except MicrogenError as error:
        console.error(error)
        return error.exit_code
    except BrokenPipeError:  # the reader of our output left, as `| head` does
        sys.stderr.close()
        return 0
    except OSError as error:  # such as a full disk, where no stage has said it in its own words
        what = error.strerror or type(error).__name__
        console.error(MicrogenError(what, where=str(error.filename or "")))
        return 2
    except KeyboardInterrupt as error:  # by whichever signal, see __main__
        with contextlib.suppress(OSError):  # the terminal may have gone
            print("microgen: interrupted", file=sys.stderr)
        return 128 + (error.args[0] if error.args else signal.SIGINT)
    return int(outcome.exit_code)


def _print(console: Console, outcome: Outcome) -> None:
    """Print the result. Raises MicrogenError where it cannot be written, as on a full disk."""
    try:
        console.result(outcome)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is left in the buffer would fail once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise MicrogenError(
            f"cannot be written: {error.strerror}", where="standard output"
        ) from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="microgen",
        description="Compile a trained network to a verified microcontroller firmware project.",
    )
    parser.add_argument("--version", action="version", version=f"microgen {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"microgen.commands.{name}")
        command = commands.add_parser(name, help=module.HELP, description=module.HELP)
        module.configure(command)
        command.add_argument("--json", action="store_true", help="print the result as JSON")
        command.add_argument("-q", "--quiet", action="store_true", help="print errors only")
        command.add_argument("-v", "--verbose", action="store_true", help="print details")
        command.set_defaults(execute=module.execute)
    return parser
