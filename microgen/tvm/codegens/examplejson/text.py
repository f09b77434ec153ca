"""ExampleJSON, the text of TVM's guide "Bring Your Own Codegen", written and read.

docs/reference/examplejson.md has the format; ``crt/src/examplejson/examplejson_reader.c`` reads the
same on the board.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from microgen.base.errors import MicrogenError, ModelError, UnsupportedError
from microgen.base.names import cnames

MARK = "subgraph_"  # a subgraph's name contains this, by the guide's rule
INPUT = "input"
OPERATORS = ("add", "sub", "mul")
MAX_DIMS = 6
MAX_NUMBER = 2**31 - 1
ITEM_BYTES = 4  # of float32, the dtype of all tensors

# One digit more than allowed, so that a cut number is still too large.
_MAX_DIGITS = len(str(MAX_NUMBER)) + 1
_WORD = re.compile(r"[^ \t\r]+")
_HINT = "`microgen help docs/reference/examplejson.md` has the format"


@dataclass(frozen=True, slots=True)
class TextNode:
    """An input, or an operator with two ``operands``, the ids of earlier nodes. ``shape`` is the
    shape of its value: 1 to 6 dimensions of at least 1."""

    op: str
    id: int
    operands: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """The number of bytes of the node's value."""
        return ITEM_BYTES * math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A function. Its arguments are its inputs in the order of ``nodes``, then its
    ``outputs``, which are ids of nodes. ``header`` is its name in the text, ``symbol`` its name."""

    header: str
    symbol: str
    nodes: tuple[TextNode, ...]
    outputs: tuple[int, ...]

    @property
    def inputs(self) -> tuple[TextNode, ...]:
        """The inputs, in order."""
        return tuple(node for node in self.nodes if node.op == INPUT)

    @property
    def operators(self) -> tuple[TextNode, ...]:
        """All other nodes, in order."""
        return tuple(node for node in self.nodes if node.op != INPUT)


def show(subgraphs: Sequence[Subgraph]) -> str:
    """The text of subgraphs."""
    return "".join(f"{line}\n" for subgraph in subgraphs for line in _lines(subgraph))


def _lines(subgraph: Subgraph) -> list[str]:
    lines = [subgraph.header, *(f"  {_line(node)}" for node in subgraph.nodes)]
    # As in the guide, the last operator is the output unless the text says otherwise.
    has_own_outputs = subgraph.outputs != tuple(n.id for n in subgraph.operators[-1:])
    if has_own_outputs:
        lines.append(f"{subgraph.header}: {subgraph.symbol} outputs: {_words(subgraph.outputs)}")
    elif subgraph.symbol != subgraph.header:
        lines.append(f"{subgraph.header}: {subgraph.symbol}")
    return lines


def _line(node: TextNode) -> str:
    if node.op == INPUT:
        return f"{INPUT} {node.id} {_words(node.shape)}"
    return f"{node.op} {node.id} inputs: {_words(node.operands)} shape: {_words(node.shape)}"


def _words(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


def parse(text: str) -> tuple[Subgraph, ...]:
    """The subgraphs of a text.

    Raises ModelError if it is not ExampleJSON, and UnsupportedError for an unknown operator.
    """
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), 1):
        reader.where = f"ExampleJSON:{number}"
        words = _WORD.findall(line)
        if words:
            reader.read(words)
    reader.end()
    return tuple(reader.subgraphs)


class _Reader:
    """Reads a text line by line. ``subgraphs`` are the complete subgraphs. ``_header`` names the
    subgraph whose lines are being read."""

    def __init__(self) -> None:
        self.subgraphs: list[Subgraph] = []
        self.where = ""
        self._header: str | None = None
        self._nodes: dict[int, TextNode] = {}

    def read(self, words: Sequence[str]) -> None:
        """Read a line that is not empty."""
        first, *words_after = words
        if MARK in first and first.endswith(":"):
            self._name(first[:-1], words_after)
        elif MARK in first:
            self._begin(first, words_after)
        elif self._header is None:
            raise self._malformed(f"found {first!r}, expected a subgraph's name")
        elif first == INPUT:
            self._input(words_after)
        else:
            self._operator(first, words_after)

    def end(self) -> None:
        """Complete the last subgraph. No two may have the same symbol."""
        self._close()
        symbols = [subgraph.symbol for subgraph in self.subgraphs]
        for symbol in symbols:
            if symbols.count(symbol) > 1:
                raise self._malformed(f"the symbol {symbol!r} has two subgraphs")

    def _begin(self, name: str, words: Sequence[str]) -> None:
        self._close()
        if words:
            raise self._malformed(f"found {words[0]!r} after a subgraph's name")
        self._header = name

    def _name(self, header: str, words: Sequence[str]) -> None:
        if header != self._header or not words:
            raise self._malformed(f"{header!r} is not the subgraph above, or has no symbol")
        outputs = [self._number(word) for word in words[2:]]
        if words[1:] and (words[1] != "outputs:" or not outputs):
            raise self._malformed(f"found {words[1]!r}, expected outputs: and their ids")
        self._close(words[0], tuple(self._known(output) for output in outputs))

    def _input(self, words: Sequence[str]) -> None:
        node = self._new_id(words[:1])
        shape = tuple(self._number(word) for word in words[1:])
        if not 1 <= len(shape) <= MAX_DIMS:
            raise self._malformed(f"{len(shape)} dimensions, expected 1 to {MAX_DIMS}")
        if min(shape) < 1 or ITEM_BYTES * math.prod(shape) > MAX_NUMBER:
            raise self._malformed(f"the shape {shape} has no element, or too many")
        self._nodes[node] = TextNode(INPUT, node, (), shape)

    def _operator(self, op: str, words: Sequence[str]) -> None:
        if op not in OPERATORS:
            raise UnsupportedError(
                f"the operator {op!r}, expected one of {', '.join(OPERATORS)}", where=self.where
            )
        node = self._new_id(words[:1])
        if [*words[1:2], *words[4:5]] != ["inputs:", "shape:"]:
            raise self._malformed(f"expected {op} <id> inputs: <id> <id> shape: <dimensions>")
        operands = tuple(self._known(self._number(word)) for word in words[2:4])
        shape = tuple(self._number(word) for word in words[5:])
        if any(self._nodes[operand].shape != shape for operand in operands):
            raise self._malformed(f"the shape {shape} is not that of both inputs")
        self._nodes[node] = TextNode(op, node, operands, shape)

    def _close(self, symbol: str = "", outputs: tuple[int, ...] = ()) -> None:
        """Complete the last subgraph unless it is complete. A subgraph without a list of outputs
        returns its last value."""
        if self._header is None:
            return
        nodes = tuple(self._nodes.values())
        outputs = outputs or tuple(node.id for node in nodes if node.op != INPUT)[-1:]
        if not outputs:
            raise self._malformed(f"{self._header} has no operator")
        self.subgraphs.append(Subgraph(self._header, symbol or self._header, nodes, outputs))
        self._header, self._nodes = None, {}

    def _new_id(self, words: Sequence[str]) -> int:
        number = self._number(words[0] if words else "")
        if number in self._nodes:
            raise self._malformed(f"{number} is the id of two nodes")
        return number

    def _known(self, number: int) -> int:
        if number not in self._nodes:
            raise self._malformed(f"{number} is not a node of an earlier line")
        return number

    def _number(self, word: str) -> int:
        # Cut before int(), whose time grows with the square of the digits.
        digits = word.lstrip("0")[:_MAX_DIGITS] or "0"
        if not (word.isascii() and word.isdigit() and int(digits) <= MAX_NUMBER):
            shown = cnames.short(word)
            raise self._malformed(f"found {shown!r}, expected a number up to {MAX_NUMBER}")
        return int(digits)

    def _malformed(self, what: str) -> MicrogenError:
        return ModelError(what, where=self.where, hint=_HINT)
