"""Compares the graph executor's graph, as the board will read it, with the plan."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from microgen.base.formats.c_layout import aligned
from microgen.base.manifest import CallRecord, ModuleRecord
from microgen.verifier.subject import Finding, Subject, judged, not_applicable

_NOP = "__nop"
_ALIGNMENT = 16  # TVM_GRAPH_EXECUTOR_ALIGNMENT
_BITS = {"bool": 8}  # for other dtypes, the number after the name


def graph(subject: Subject) -> Finding:
    """With ``--executor graph``: the JSON calls the plan's operators in the plan's order, with
    the plan's buffers, inputs and constants, and the executor puts each storage where the plan
    has it.

    Reads: the graph's JSON in the ELF; plan.
    """
    modules = [m for m in subject.manifest.modules if m.options.get("executor") == "graph"]
    if not modules:
        return not_applicable("no graph is run")
    problems = [problem for module in modules for problem in _problems(subject, module)]
    calls = sum(len(module.calls) for module in modules)
    expected = f"the graph's calls and storages are those of the plan: {calls} calls"
    return judged(expected, problems, f"{calls} calls as planned", calls=calls)


def _problems(subject: Subject, module: ModuleRecord) -> Iterator[str]:
    name = f"{module.prefix}_graph_json"
    symbols = subject.elf.named(name)
    data = subject.elf.read(symbols[0].address, symbols[0].size) if len(symbols) == 1 else None
    try:
        decoded = _Graph(json.loads(data or b""))
        problems = [*_call_problems(decoded, module), *_storage_problems(decoded, module)]
    # Nothing in the JSON is trusted, so a part that is missing is a problem, too.
    except (ValueError, LookupError, TypeError, AttributeError):
        problems = [f"{name} is not the JSON of a graph"]
    yield from problems


class _Graph:
    """A graph whose contents are not trusted. Reading something invalid may raise any exception."""

    def __init__(self, data: Any) -> None:
        attrs = data["attrs"]
        self.nodes = data["nodes"]
        self.first = data["node_row_ptr"]
        self.ids = attrs["storage_id"][1]
        self.sizes = list(map(_nbytes, attrs["dltype"][1], attrs["shape"][1]))
        # The executor calls nothing for `__nop`, which passes a storage on.
        self.calls = [i for i, node in enumerate(self.nodes) if _function(node) not in ("", _NOP)]
        self.written = {self.ids[entry] for i in self.calls for entry in self.outputs(i)}

    def outputs(self, node: int) -> range:
        """Entries of a node."""
        return range(self.first[node], self.first[node + 1])

    def arguments(self, node: int) -> Iterator[str]:
        """The arguments of a call: the storage if a call writes it, otherwise the input's name."""
        entries = [self.first[number] + index for number, index, *_ in self.nodes[node]["inputs"]]
        for entry in (*entries, *self.outputs(node)):
            storage = self.ids[entry]
            yield f"sid_{storage}" if storage in self.written else self._input(storage)

    def _input(self, storage: int) -> str:
        names = (n["name"] for i, n in enumerate(self.nodes) if self.ids[self.first[i]] == storage)
        return str(next(names))

    def storage_bytes(self, storage: int) -> int:
        """The bytes that the executor takes from the pool."""
        # The executor takes the bytes once for all tensors of a storage.
        sizes = [n for n, own in zip(self.sizes, self.ids, strict=True) if own == storage]
        return aligned(max(sizes), _ALIGNMENT)


def _nbytes(dtype: str, shape: list[int]) -> int:
    bits = _BITS.get(dtype) or int(dtype.lstrip("abcdefghijklmnopqrstuvwxyz"))
    return math.prod(shape) * bits // 8


def _function(node: Any) -> str:
    return "" if node["op"] == "null" else str(node["attrs"]["func_name"])


def _call_problems(decoded: _Graph, module: ModuleRecord) -> Iterator[str]:
    if len(decoded.calls) != len(module.calls):
        yield f"the graph has {len(decoded.calls)} calls, planned {len(module.calls)}"
        return
    for node, call in zip(decoded.calls, module.calls, strict=True):
        function, arguments = (_function(decoded.nodes[node]), list(decoded.arguments(node)))
        planned = list(_planned(call, module))
        if function != call.packed:
            yield f"call {call.index + 1} is {function}, planned {call.packed}"
        elif arguments != planned:
            yield f"call {call.index + 1} has {', '.join(arguments)}, planned {', '.join(planned)}"


def _planned(call: CallRecord, module: ModuleRecord) -> Iterator[str]:
    """The tensors among a call's arguments; the graph has no others."""
    for argument in call.args:
        # Constants are C objects, whose names begin with the module's. An input may have such a
        # name, too.
        if argument.storage == "constant":
            yield argument.name.removeprefix(f"{module.prefix}_")
        elif argument.storage not in ("scratch", "device"):
            yield argument.name


def _storage_problems(decoded: _Graph, module: ModuleRecord) -> Iterator[str]:
    """Problems of storages, which must be placed one after the other in the order of their ids."""
    offsets = {b.name: b.offset for b in module.plan.buffers}
    for storage, following in pairwise(sorted(decoded.written)):
        apart = offsets[f"sid_{following}"] - offsets[f"sid_{storage}"]
        if apart != decoded.storage_bytes(storage):
            yield f"sid_{following} is {apart} bytes after sid_{storage}, which is not its place"
