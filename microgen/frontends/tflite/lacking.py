"""The operators of TFLite's schema: those without an importer with the reason, and the table of all
of them for the documentation."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

from tflite.BuiltinOperator import BuiltinOperator

from microgen.frontends.tflite import importers
from microgen.graph.ops import registry

_HERE = importers.__name__
_RANDOM = "random numbers; let the caller pass them as an input"
_COMPLEX = "complex numbers; compute the spectrum outside of the model"
_TABLES = "tables of strings or 64-bit keys; look values up outside of the model, or use GATHER"
_OPEN = "the shape of its output depends on its values"
_NO_KERNEL = "LiteRT has no kernel of it"
_NO_REFERENCE = "LiteRT has no reference kernel of it"
_NAMED = "not an operator, but a number that the schema reserves"
_STATE = "use UNIDIRECTIONAL_SEQUENCE_LSTM, which Keras 2's converter writes"

REASONS: Mapping[str, str] = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": "use two UNIDIRECTIONAL_SEQUENCE_LSTM, one after REVERSE_V2",
    "CALL": _NO_KERNEL,
    "COMPLEX_ABS": _COMPLEX,
    "CONCAT_EMBEDDINGS": _NO_KERNEL,
    "CUSTOM": "code that is not in the file; some are known by their names, see the list above",
    "DELEGATE": "written by a runtime for its own use, never by a converter",
    "EMBEDDING_LOOKUP_SPARSE": "weighted sums of rows; use EMBEDDING_LOOKUP, MUL and SUM",
    "HASHTABLE": _TABLES,
    "HASHTABLE_FIND": _TABLES,
    "HASHTABLE_IMPORT": _TABLES,
    "HASHTABLE_LOOKUP": _TABLES,
    "HASHTABLE_SIZE": _TABLES,
    "IMAG": _COMPLEX,
    "LSH_PROJECTION": "hashes of strings or bytes, which no network of today has",
    "LSTM": _STATE,
    "MULTINOMIAL": _RANDOM,
    "NON_MAX_SUPPRESSION_V4": "use TFLite_Detection_PostProcess",
    "NON_MAX_SUPPRESSION_V5": "use TFLite_Detection_PostProcess",
    "PLACEHOLDER_FOR_GREATER_OP_CODES": _NAMED,
    "RANDOM_STANDARD_NORMAL": _RANDOM,
    "RANDOM_UNIFORM": _RANDOM,
    "REAL": _COMPLEX,
    "RFFT2D": _COMPLEX,
    "SEGMENT_SUM": f"{_OPEN}; use UNSORTED_SEGMENT_SUM, which is told it",
    "SKIP_GRAM": "strings",
    "STABLEHLO_AND": f"{_NO_REFERENCE}; use LOGICAL_AND",
    "STABLEHLO_RNG_BIT_GENERATOR": _RANDOM,
    "STABLEHLO_SHIFT_LEFT": f"{_NO_REFERENCE}; use MUL by powers of two",
    "UNIQUE": _OPEN,
    "WHERE": f"{_OPEN}; use SELECT_V2, which chooses by a mask",
    **dict.fromkeys(
        (*("STABLEHLO_GATHER", "STABLEHLO_SCATTER"),),
        "converters lower StableHLO to the other operators, unless they are told not to",
    ),
}


def reason(operator: str) -> str:
    """Why microgen lacks a builtin operator of the schema; empty for an unknown one."""
    if operator.startswith("STABLEHLO_"):
        return REASONS.get(operator, _NO_KERNEL)
    return REASONS.get(operator, "")


def builtin() -> tuple[str, ...]:
    """The schema's builtin operators, sorted."""
    return tuple(sorted(k for k, v in vars(BuiltinOperator).items() if isinstance(v, int)))


def table() -> list[str]:
    """A row in Markdown for each builtin operator: the ops that it becomes, or the reason why it is
    refused."""
    known = importers.registry()
    rows = ["| operator of LiteRT | becomes | or is refused, because |", "|---|---|---|"]
    for name in builtin():
        if name in known:
            made = sorted(set(_ops(known[name])))
            rows.append(f"| {name} | {', '.join(f'`{op}`' for op in made) or 'no op'} | |")
        else:
            rows.append(f"| {name} | | {reason(name)} |")
    return rows


def _ops(importer: Any) -> Iterator[str]:
    """The names of ops in the calls of an importer's code and of the functions that it uses."""
    seen, waiting = set[FunctionType](), [getattr(importer, "add", importer)]
    while waiting:
        function = waiting.pop()
        if not isinstance(function, FunctionType) or function in seen:
            continue
        seen.add(function)
        # An importer that another function makes has its arguments in its closure.
        enclosed = inspect.getclosurevars(function).nonlocals
        waiting += enclosed.values()
        strings, names = _read(function)
        yield from (each for each in (*strings, str(enclosed.get("op"))) if each in registry())
        found = (function.__globals__.get(name) for name in names)
        waiting += (each for each in found if getattr(each, "__module__", "").startswith(_HERE))


def _read(function: FunctionType) -> tuple[list[str], list[str]]:
    """The strings that a function passes on, and the names that it uses."""
    if function.__name__ == "<lambda>":  # its lines may be a part of a statement
        code = function.__code__
        return [each for each in code.co_consts if isinstance(each, str)], [*code.co_names]
    strings, names = list[str](), list[str]()
    waiting: list[ast.AST] = [ast.parse(textwrap.dedent(inspect.getsource(function)))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            names.append(node.id)
        elif isinstance(node, ast.Call | ast.Tuple):
            parts = node.args if isinstance(node, ast.Call) else node.elts
            strings += (
                each.value
                for each in parts
                if isinstance(each, ast.Constant) and isinstance(each.value, str)
            )
        # A string that is compared with a name is not passed on.
        waiting += [] if isinstance(node, ast.Compare) else ast.iter_child_nodes(node)
    return strings, names
