"""Kernels for nn.recurrent."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops import registry as ops
from microgen.graph.ops.recurrent.recurrent import RecurrentAttrs
from microgen.graph.ops.recurrent.recurrent_steps import FORMULAS, GATES, ActivationFormula
from microgen.kernels import base
from microgen.kernels.work import Work


def constants_but_variables(dtype: DType) -> base.Refuse:
    """Refusal unless the data is of that dtype, and every other input that is not a variable is a
    constant."""

    def refusal(node: Node, graph: Graph) -> str | None:
        variables = ops()[node.op].writes(node.attrs, len(node.inputs))
        for position, name in enumerate(node.inputs):
            if position and position not in variables and (why := base.computed(name, graph)):
                return why
        return base.only(dtype)(node, graph)

    return refusal


USUAL = {"rnn": ("tanh",), "gru": ("sigmoid", "tanh"), "lstm": ("sigmoid", "tanh", "tanh")}
_PLACES = 3  # functions of an LSTM
_WHOLE = 8  # inputs of an LSTM with peepholes
# Kernels for the usual functions call these two only, so that firmware does not have the others.
_USUAL_CORES = ("mg_recurrent_sigmoid", "mg_recurrent_tanh")
CORES = (
    *(*_USUAL_CORES, "mg_recurrent_expm1", "mg_recurrent_softplus"),
    "mg_recurrent_function",
)


def _recurrent_f32_params(node: Node, graph: Graph) -> base.Fields:
    attrs = base.attrs_of(node, RecurrentAttrs)
    steps, batches, features = graph.types[node.inputs[0]].shape
    return (
        ("steps", steps),
        ("batches", batches),
        ("features", features),
        ("cells", graph.types[node.outputs[0]].shape[2]),
        ("keeps", int(attrs.keeps)),
        ("reverse", int(attrs.reverse)),
        ("resets_after", int(attrs.resets_after)),
        ("couples", int(attrs.couples)),
        ("clip", attrs.clip),
        *function_fields(attrs),
    )


def function_fields(attrs: RecurrentAttrs) -> base.Fields:
    """The functions of the layer's formulas."""
    # Kernels of kinds with fewer functions do not read the others.
    missing = _PLACES - len(attrs.functions)
    functions = (*attrs.functions, *[ActivationFormula("relu")] * missing)
    return (
        ("function", tuple(list(FORMULAS).index(each.name) for each in functions)),
        ("alpha", tuple(each.alpha for each in functions)),
        ("beta", tuple(each.beta for each in functions)),
    )


def _recurrent_f32_scratch(node: Node, graph: Graph) -> int:
    """The next hidden state of a sequence; of a GRU also its reset gate."""
    halves = 2 if base.attrs_of(node, RecurrentAttrs).kind == "gru" else 1
    return 4 * halves * graph.types[node.outputs[0]].shape[2]


def _recurrent_f32_work(node: Node, graph: Graph) -> Work:
    """Steps of sequences, their cells, and products. Cells with parts that few layers have are
    counted apart."""
    attrs = base.attrs_of(node, RecurrentAttrs)
    steps, batches, features = graph.types[node.inputs[0]].shape
    count = graph.types[node.outputs[0]].shape[2]
    cells, gates = steps * batches * count, GATES[attrs.kind]
    is_usual = tuple(each.name for each in attrs.functions) == USUAL[attrs.kind]
    return {
        "call": 1,
        "output": graph.types[node.outputs[0]].size,
        "step": steps * batches,
        "cell": cells,
        "mac": cells * gates * (features + count),
        "resets_after": cells * attrs.resets_after,
        "peephole": cells * (len(node.inputs) == _WHOLE),
        "coupled": cells * attrs.couples,
        "unusual": cells * (not is_usual),
    }


def _recurrent_f32_kernel(kind: str, is_usual: bool) -> base.Implementation:
    def refusal(node: Node, _graph: Graph) -> str | None:
        attrs = base.attrs_of(node, RecurrentAttrs)
        if attrs.kind != kind:
            why = f"it is of the kind {attrs.kind}, the kernel computes {kind}"
            return base.Mismatch(base.Trait.ARITHMETIC, why)
        if is_usual and tuple(each.name for each in attrs.functions) != USUAL[kind]:
            why = "its functions are other ones"
            return base.Mismatch(base.Trait.ARITHMETIC, why)
        return base.only(DType.FLOAT32)(node, _graph)

    return base.Implementation(
        symbol=f"mg_recurrent_{kind}_f32" if is_usual else f"mg_recurrent_{kind}_any_f32",
        family="recurrent_f32",
        variant=(
            f"MG_RECURRENT_{kind.upper()}",
            "MG_RECURRENT_USUAL" if is_usual else "MG_RECURRENT_ANY",
        ),
        refusal=refusal,
        params=_recurrent_f32_params,
        inputs=tuple(range(8)),
        scratch=_recurrent_f32_scratch,
        cores=_USUAL_CORES if is_usual else CORES,
        work=_recurrent_f32_work,
        # as for mg_lstm_f32: sums are off by units of their own size, and steps pass errors on
        ulps=64,
    )


BY_OP = {
    "nn.recurrent": tuple(
        _recurrent_f32_kernel(kind, usual) for kind in GATES for usual in (True, False)
    ),
}
