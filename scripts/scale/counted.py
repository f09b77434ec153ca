"""``python -m scripts.scale.counted COMMAND MODEL ...``: the calls of Python functions of one
command of microgen, as the last line of the output. Imports are not counted: a first run does
them."""

from __future__ import annotations

import cProfile
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

import onnx

from microgen.interface import cli
from scripts.scale.networks import make


def main(arguments: Sequence[str]) -> int:
    """Run the command twice, first for a small network, and count the second time."""
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        small = Path(folder, "model.onnx")
        onnx.save(make("chain", 2), small)
        first = [*arguments[:1], str(small), *arguments[2:]]
        if "-o" in first:
            first[first.index("-o") + 1] = f"{folder}/project"
        with redirect_stdout(nowhere):
            cli.main(first)
            profile = cProfile.Profile()
            code = profile.runcall(cli.main, list(arguments))
    print(sum(entry.callcount for entry in profile.getstats()))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
