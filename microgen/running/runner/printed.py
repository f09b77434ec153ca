"""Makes the numbers in a firmware's output readable: it has no code to print floats, so it prints
words."""

from __future__ import annotations

import re

import numpy as np

from microgen.base.manifest import Manifest, PortRecord
from microgen.running.runner import samples

_LINE = re.compile(r"^(microgen: output [^\n]* =)((?: 0x[0-9a-f]{8})+)$", re.MULTILINE)
_DTYPES = ("float32", "uint32", "int64", "uint64")  # the dtypes that main prints as words


def readable(console: str, manifest: Manifest) -> str:
    """The console's text with the elements of outputs as numbers. ``main.c`` prints one output per
    line, in order; lines in another form are unchanged."""
    ports = [port for port in samples.outputs(manifest) if port.dtype in _DTYPES]
    if len(_LINE.findall(console)) != len(ports):
        return console
    left = iter(ports)
    return _LINE.sub(lambda line: f"{line[1]}{_numbers(line[2], next(left))}", console)


def _numbers(words: str, port: PortRecord) -> str:
    """The elements of an output, each after a space. Floats are the shortest that read the same."""
    data = np.array([int(word, 16) for word in words.split()], "<u4").tobytes()
    if len(data) != port.nbytes:
        return words
    elements = np.frombuffer(data, np.dtype(port.dtype).newbyteorder("<"))
    return "".join(f" {element!s}" for element in elements)
