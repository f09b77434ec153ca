"""One node as a C block that calls a public function of CMSIS-NN."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from microgen.compiler.codegens.cmsis_nn import choice, numbers
from microgen.compiler.codegens.cmsis_nn.numbers import CmsisWindow, PoolAttrs
from microgen.compiler.codegens.cmsis_nn.tree import LibraryForm
from microgen.graph.arithmetic.int8 import add_parameters, softmax_parameters
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, Graph, Node
from microgen.graph.ops.convolution.conv2d import Conv2DAttrs
from microgen.graph.ops.dense.dense import DenseAttrs
from microgen.graph.ops.depthwise.depthwise_conv2d import DepthwiseConv2DAttrs
from microgen.graph.ops.elementwise import product
from microgen.graph.ops.elementwise.addition import AdditionAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.reductions.softmax import SoftmaxAttrs
from microgen.kernels import base

_CONTEXT = "&context"


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A call of ``function`` in a block of its own.

    ``statics`` are (type, name, initialiser) of constants in the block. ``arguments`` are C
    expressions: numbers, ``&`` names of ``statics``, ``{name}`` of ``constants``, and ``{in0}``,
    ``{in1}`` and ``{out}`` for the node's tensors. Only the first ``reads`` inputs are passed.
    ``per_channel`` names the struct ``tables`` that points to the constants multiplier and shift.
    ``buffer`` is the size of the context's buffer in bytes; the buffer is ``held``, one of
    ``constants``, or scratch. It is None without a context. ``fails``: it returns a status.
    """

    function: str
    statics: tuple[tuple[str, str, str], ...]
    arguments: tuple[str, ...]
    constants: tuple[tuple[str, Array], ...] = ()
    per_channel: bool = False
    buffer: int | None = None
    held: str = ""
    reads: int = 1
    fails: bool = True

    @property
    def scratch(self) -> int:
        """Bytes of scratch for the context's buffer."""
        return 0 if self.held else self.buffer or 0


def of(node: Node, graph: Graph, form: LibraryForm) -> LibraryCall:
    """The call for a node that is not refused."""
    return _CALLS[node.op](node, graph, form)


# Initialisers


def _struct(**fields: object) -> str:
    return "{" + ", ".join(f".{name} = {value}" for name, value in fields.items()) + "}"


def _tile(pair: Sequence[int]) -> str:
    return _struct(h=pair[0], w=pair[1])


def _dims(n: int, h: int, w: int, c: int) -> str:
    return _struct(n=n, h=h, w=w, c=c)


def _limits(activation: Activation, node: Node, graph: Graph) -> tuple[int, int]:
    fields = base.activation_fields(activation, graph.types[node.outputs[0]])
    low, high = (int(value) for _, value in fields if isinstance(value, int))
    return low, high


def _activation(activation: Activation, node: Node, graph: Graph) -> str:
    low, high = _limits(activation, node, graph)
    return _struct(min=low, max=high)


def _offsets(node: Node, graph: Graph) -> dict[str, object]:
    inputs, output = base.types(node, graph)
    return dict(base.offsets(inputs[0], output))


# Convolutions


def _convolution(node: Node, graph: Graph, form: LibraryForm) -> LibraryCall:
    assert isinstance(node.attrs, Conv2DAttrs)
    w = numbers.of(node, graph)
    chosen = choice.convolution(form, w)
    filters = _dims(w.output[3], *w.kernel, w.depth)
    params = _struct(**_offsets(node, graph), **_window_fields(node.attrs, w, node, graph))
    # Only arm_convolve_s8 has the parameter upscale_dims. NULL means no upscaling.
    upscale = ("0",) if chosen.function == "arm_convolve_s8" else ()
    statics = (("cmsis_nn_conv_params", "params", params), *_shapes(w, filters))
    return _with_weights(node, graph, chosen, statics, upscale)


def _depthwise(node: Node, graph: Graph, form: LibraryForm) -> LibraryCall:
    assert isinstance(node.attrs, DepthwiseConv2DAttrs)
    w = numbers.of(node, graph)
    params = _struct(
        **_offsets(node, graph),
        ch_mult=node.attrs.depth_multiplier,
        **_window_fields(node.attrs, w, node, graph),
    )
    filters = _dims(1, *w.kernel, w.output[3])
    statics = (("cmsis_nn_dw_conv_params", "params", params), *_shapes(w, filters))
    return _with_weights(node, graph, choice.depthwise(form, w), statics, ())


def _window_fields(
    attrs: Conv2DAttrs | DepthwiseConv2DAttrs, w: CmsisWindow, node: Node, graph: Graph
) -> dict[str, object]:
    return {
        "stride": _tile(w.strides),
        "padding": _tile(w.pads),
        "dilation": _tile(w.dilation),
        "activation": _activation(attrs.activation, node, graph),
    }


def _shapes(w: CmsisWindow, filters: str) -> tuple[tuple[str, str, str], ...]:
    return (
        ("cmsis_nn_dims", "input", _dims(*w.data)),
        ("cmsis_nn_dims", "filter", filters),
        ("cmsis_nn_dims", "output", _dims(*w.output)),
    )


def _with_weights(
    node: Node,
    graph: Graph,
    chosen: choice.FunctionChoice,
    statics: tuple[tuple[str, str, str], ...],
    upscale: tuple[str, ...],
) -> LibraryCall:
    """The arguments. The bias's dimensions are the filters'; no function reads them."""
    found, shifts = numbers.multipliers(node, graph)
    weight = graph.constants[node.inputs[1]]
    arguments = ("&input", "{in0}", "&filter", "{weight}", "&filter", "{bias}")
    return LibraryCall(
        chosen.function,
        statics,
        (_CONTEXT, "&params", "&tables", *arguments, *upscale, "&output", "{out}"),
        (
            ("weight", weight),
            ("bias", numbers.bias(node, graph)),
            ("multiplier", found),
            ("shift", shifts),
        ),
        per_channel=True,
        buffer=chosen.buffer,
    )


# Dense layers


def _dense(node: Node, graph: Graph, form: LibraryForm) -> LibraryCall:
    units, depth = graph.types[node.inputs[1]].shape
    rows = graph.types[node.outputs[0]].size // units
    found, shifts = numbers.multipliers(node, graph)
    per_channel = found.size > 1
    # MVE's form reads bias and sums of weights from the context's buffer, which is a constant.
    is_mve = form is LibraryForm.MVE
    summed = (
        ("kernel_sum", numbers.kernel_sums(node, graph))
        if is_mve
        else ("bias", numbers.bias(node, graph))
    )
    statics = (
        ("cmsis_nn_fc_params", "params", _dense_params(node, graph)),
        ("cmsis_nn_dims", "input", _dims(rows, 1, 1, depth)),
        ("cmsis_nn_dims", "filter", _dims(depth, 1, 1, units)),
        ("cmsis_nn_dims", "output", _dims(rows, 1, 1, units)),
    )
    one = _struct(multiplier=int(found[0]), shift=int(shifts[0]))
    per_tensor = (("cmsis_nn_per_tensor_quant_params", "tables", one),)
    data = ("{in0}", "&filter", "{weight}", "&filter", "0" if is_mve else "{bias}")
    return LibraryCall(
        "arm_fully_connected_per_channel_s8" if per_channel else "arm_fully_connected_s8",
        (*statics, *(() if per_channel else per_tensor)),
        (_CONTEXT, "&params", "&tables", "&input", *data, "&output", "{out}"),
        (
            ("weight", graph.constants[node.inputs[1]]),
            summed,
            *((("multiplier", found), ("shift", shifts)) if per_channel else ()),
        ),
        per_channel=per_channel,
        buffer=choice.fully_connected(form, units),
        held="kernel_sum" if is_mve else "",
    )


def _dense_params(node: Node, graph: Graph) -> str:
    assert isinstance(node.attrs, DenseAttrs)
    activation = _activation(node.attrs.activation, node, graph)
    return _struct(**_offsets(node, graph), filter_offset=0, activation=activation)


# Pools


def _max_pool(node: Node, graph: Graph, _form: LibraryForm) -> LibraryCall:
    return _pool("arm_max_pool_s8", node, graph, 0)


def _average_pool(node: Node, graph: Graph, form: LibraryForm) -> LibraryCall:
    channels = graph.types[node.outputs[0]].shape[3]
    return _pool("arm_avgpool_s8", node, graph, choice.average_pool(form, channels))


def _pool(function: str, node: Node, graph: Graph, buffer: int) -> LibraryCall:
    assert isinstance(node.attrs, PoolAttrs)
    w = numbers.of(node, graph)
    params = _struct(
        stride=_tile(w.strides),
        padding=_tile(w.pads),
        activation=_activation(node.attrs.activation, node, graph),
    )
    statics = (
        ("cmsis_nn_pool_params", "params", params),
        *_shapes(w, _dims(1, *w.kernel, 1)),
    )
    arguments = (_CONTEXT, "&params", "&input", "{in0}", "&filter", "&output", "{out}")
    return LibraryCall(function, statics, arguments, buffer=buffer)


# Softmax and elementwise operators


def _softmax(node: Node, graph: Graph, _form: LibraryForm) -> LibraryCall:
    assert isinstance(node.attrs, SoftmaxAttrs)
    data = graph.types[node.inputs[0]]
    p = softmax_parameters(data, node.attrs.beta)
    row = data.shape[-1]
    numbers = (data.size // row, row, p.input_multiplier, p.input_left_shift, p.diff_min)
    arguments = ("{in0}", *map(str, numbers), "{out}")
    return LibraryCall("arm_softmax_s8", (), arguments, fails=False)


def _add(node: Node, graph: Graph, _form: LibraryForm) -> LibraryCall:
    assert isinstance(node.attrs, AdditionAttrs)
    lhs, rhs, output = graph.type_of((*node.inputs, *node.outputs))
    p = add_parameters(lhs, rhs, output)
    numbers = (
        *(-lhs.zero_point, p.lhs_multiplier, p.lhs_shift),
        *(-rhs.zero_point, p.rhs_multiplier, p.rhs_shift),
        p.left_shift,
    )
    scaled = (output.zero_point, p.output_multiplier, p.output_shift)
    ends = (*scaled, *_limits(node.attrs.activation, node, graph), output.size)
    arguments = ("{in0}", "{in1}", *map(str, numbers), "{out}", *map(str, ends))
    return LibraryCall("arm_elementwise_add_s8", (), arguments, reads=2)


def _multiply(node: Node, graph: Graph, _form: LibraryForm) -> LibraryCall:
    assert isinstance(node.attrs, MultiplyAttrs)
    lhs, rhs, output = graph.type_of((*node.inputs, *node.outputs))
    scaled = (output.zero_point, *product.multiply_parameters(node.attrs, lhs, rhs, output))
    ends = (*scaled, *_limits(node.attrs.activation, node, graph), output.size)
    offsets = (-lhs.zero_point, -rhs.zero_point)
    arguments = ("{in0}", "{in1}", *map(str, offsets), "{out}", *map(str, ends))
    return LibraryCall("arm_elementwise_mul_s8", (), arguments, reads=2)


_CALLS: Mapping[str, Callable[[Node, Graph, LibraryForm], LibraryCall]] = {
    "nn.conv2d": _convolution,
    "nn.depthwise_conv2d": _depthwise,
    "nn.dense": _dense,
    "nn.max_pool2d": _max_pool,
    "nn.avg_pool2d": _average_pool,
    "nn.softmax": _softmax,
    "add": _add,
    "multiply": _multiply,
}
