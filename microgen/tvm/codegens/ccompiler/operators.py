"""The Relay operators that the generator takes, and the C macros that compute them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from microgen.relay.expr import TensorType, Type
from microgen.relay.transform import OperatorCall, Predicate

# The macros that define one function for each call of an operator, ``CSOURCE_<what>_OP_<n>D``.
#
# They are the macros of TVM's guide: ``CSOURCE_BINARY_OP_2D(f, +, 10, 10);`` defines ``f(a, b,
# out)`` for float32 tensors of 10 x 10. Here the functions are static, pointers to inputs are
# const, and indices are int32_t. ``_S32`` marks the macros for int32.

# The column of the backslashes of a macro's lines.
_WIDTH = 79


@dataclass(frozen=True, slots=True)
class MacroKind:
    """A kind of macro: the number of tensors that it reads, the C statements of its function for
    element ``k``, and the statements of its integer form. ``p_OP_`` is the macro's argument."""

    name: str
    reads: int
    statements: tuple[str, ...]
    integer: tuple[str, ...]


_CHOICE = ("out[k] = (a[k] p_OP_ b[k]) ? a[k] : b[k];",)
BINARY = MacroKind(
    "BINARY",
    2,
    ("out[k] = a[k] p_OP_ b[k];",),
    ("out[k] = (int32_t)((uint32_t)a[k] p_OP_ (uint32_t)b[k]);",),
)
CHOICE = MacroKind("CHOICE", 2, _CHOICE, _CHOICE)
UNARY = MacroKind(
    "UNARY",
    1,
    ("const float x = a[k];", "out[k] = p_OP_;"),
    ("const int32_t x = a[k];", "out[k] = p_OP_;"),
)
_FORMS = (BINARY, CHOICE, UNARY)


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a macro by a function."""

    form: MacroKind
    dtype: str
    rank: int  # 1 or 2

    @property
    def macro(self) -> str:
        """The macro's name."""
        return f"CSOURCE_{self.form.name}_OP_{self.rank}D" + "_S32" * (self.dtype == "int32")


def definitions(used: Collection[Use]) -> list[str]:
    """The text of these macros, in a fixed order."""
    every = [Use(f, d, rank) for f in _FORMS for d in ("float32", "int32") for rank in (1, 2)]
    return [_definition(use) for use in every if use in used]


def _definition(use: Use) -> str:
    ctype = "float" if use.dtype == "float32" else "int32_t"
    reads = ", ".join(f"const {ctype} *{name}" for name in "ab"[: use.form.reads])
    dims = ", ".join(f"p_DIM{i + 1}_" for i in range(use.rank))
    lines = [
        f"#define {use.macro}(p_ID_, p_OP_, {dims})",
        f"    static void p_ID_({reads}, {ctype} *out)",
        "    {",
        *(f"        {line}" for line in _loops(use)),
        "    }",
    ]
    # The macro's use is followed by a semicolon, which C does not allow after a function's body.
    return "".join(f"{line:<{_WIDTH}}\\\n" for line in lines) + "    struct csource_op_end"


def _loops(use: Use) -> list[str]:
    body = use.form.integer if use.dtype == "int32" else use.form.statements
    if use.rank == 1:
        loop = "for (int32_t k = 0; k < p_DIM1_; ++k) {"
        return [loop, *(f"    {line}" for line in body), "}"]
    return [
        "for (int32_t i = 0; i < p_DIM1_; ++i) {",
        "    for (int32_t j = 0; j < p_DIM2_; ++j) {",
        "        const int32_t k = i * p_DIM2_ + j;",
        *(f"        {line}" for line in body),
        "    }",
        "}",
    ]


@dataclass(frozen=True, slots=True)
class OperatorMacro:
    """An operator's macro, and by dtype the C text that is the macro's argument."""

    form: MacroKind
    texts: Mapping[str, str]


def _same(form: MacroKind, text: str) -> OperatorMacro:
    return OperatorMacro(form, {"float32": text, "int32": text})


# Integers are computed modulo 2^32, as in numpy. In a comparison with NaN, or of zeros, the
# right operand is taken, as in TVM and TFLite. If x is -0, 0 - x is 0.
OPERATORS: Mapping[str, OperatorMacro] = MappingProxyType(
    {
        "add": _same(BINARY, "+"),
        "subtract": _same(BINARY, "-"),
        "multiply": _same(BINARY, "*"),
        "divide": OperatorMacro(BINARY, {"float32": "/"}),
        "maximum": _same(CHOICE, ">"),
        "minimum": _same(CHOICE, "<"),
        "negative": OperatorMacro(UNARY, {"float32": "-x", "int32": "(int32_t)(0u - (uint32_t)x)"}),
        "abs": OperatorMacro(
            UNARY,
            {
                "float32": "(x > 0.0f) ? x : 0.0f - x",
                "int32": "(x < 0) ? (int32_t)(0u - (uint32_t)x) : x",
            },
        ),
        "nn.relu": OperatorMacro(
            UNARY, {"float32": "(x < 0.0f) ? 0.0f : x", "int32": "(x < 0) ? 0 : x"}
        ),
    }
)


def _refusal(operator: OperatorMacro, call: OperatorCall) -> str | None:
    result = call.result
    if not isinstance(result, TensorType) or result.dtype not in operator.texts:
        return f"it is {_dtype(result)}, and {call.op} is taken of {' or '.join(operator.texts)}"
    for number, argument in enumerate(call.args):
        # The macros have one loop for all operands.
        if argument != result:
            return f"its argument {number} is {argument}, and its result {result}: no broadcasting"
    return None


def _dtype(type_: Type) -> str:
    return type_.dtype if isinstance(type_, TensorType) else str(type_)


PREDICATES: Mapping[str, Predicate] = MappingProxyType(
    {name: partial(_refusal, operator) for name, operator in OPERATORS.items()}
)
