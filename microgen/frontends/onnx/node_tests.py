"""The number of ONNX's node tests that pass for each operator, from ``node_tests.json``.

``python -m tests.frontends.onnx.node_tests --record`` counts and writes the file.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import NamedTuple

FILE = "node_tests.json"


class NodeTestCounts(NamedTuple):
    """The numbers of an operator's tests: all tests, the tests that pass with parameters bound, and
    the tests that pass unchanged."""

    tests: int
    bound: int
    free: int


def recorded() -> dict[str, NodeTestCounts]:
    """Operator -> its counts, in order."""
    text = resources.files(__package__).joinpath(FILE).read_text("utf-8")
    return {op: NodeTestCounts(*counts) for op, counts in json.loads(text).items()}


def lines() -> list[str]:
    """The section about node tests of ``docs/reference/supported-ops.md``."""
    every = recorded()
    total = NodeTestCounts(*map(sum, zip(*every.values(), strict=True)))
    return [
        f"ONNX has {total.tests:,} tests of single operators. {total.bound:,} of them pass if"
        " parameters such as shapes and axes are bound",
        f"(`--bind`), and {total.free:,} as they are. The models of all others are refused by a"
        " sentence. A test is counted for the",
        "operator that it is for, also if its model is the function that defines the operator.",
        "",
        "| operator | tests | pass with parameters bound | pass as they are |",
        "|---|---|---|---|",
        *(f"| {op} | {row.tests} | {row.bound} | {row.free} |" for op, row in every.items()),
    ]
