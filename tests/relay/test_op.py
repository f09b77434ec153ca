"""The ops: defaults as TVM v0.14 has them, and the types that their relations give."""

from __future__ import annotations

import pytest

from microgen import relay
from microgen.base.errors import ModelError
from microgen.graph.ops import registry as graph_ops
from microgen.relay.op import registry
from microgen.relay.op.base import REQUIRED, RelayOp

_IMAGE = "float32 1 4 9 7"


def _type(word: str) -> relay.Type:
    """``float32 1 2`` as Tensor[(1, 2), float32]; several parted by ``|`` as a tuple."""
    if "|" in word:
        return relay.TupleType(tuple(_type(w.strip()) for w in word.split("|")))
    dtype, *dims = word.split()
    return relay.TensorType(tuple(map(int, dims)), dtype)


def _typed(call: str, *args: str) -> str:
    """The type of ``op(attributes)`` on arguments of these types."""
    params = [f"%a{i}: {_type(word)}" for i, word in enumerate(args)]
    name, _, attrs = call.partition("(")
    inner = ", ".join(filter(None, [*(f"%a{i}" for i in range(len(args))), attrs[:-1]]))
    module = relay.parse(f"def @main({', '.join(params)}) {{ {name}({inner}) }}")
    assert relay.structural_equal(relay.parse(relay.show(module)), module)
    return str(module["main"].ret_type)


_CASES = [
    ("nn.conv2d()", (_IMAGE, "float32 8 4 3 3"), "float32 1 8 7 5"),
    ("nn.conv2d(strides=[2, 3], padding=[1])", (_IMAGE, "float32 8 4 3 3"), "float32 1 8 5 3"),
    ("nn.conv2d(padding=[0, 1, 2, 3])", (_IMAGE, "float32 8 4 3 3"), "float32 1 8 9 9"),
    ("nn.conv2d(dilation=[4, 3])", (_IMAGE, "float32 8 4 3 3"), "float32 1 8 1 1"),
    ("nn.conv2d(groups=2)", (_IMAGE, "float32 8 2 1 1"), "float32 1 8 9 7"),
    ("nn.conv2d(groups=4, channels=8)", (_IMAGE, "float32 4 2 1 1"), "float32 1 8 9 7"),
    (
        'nn.conv2d(data_layout="NHWC", kernel_layout="HWIO")',
        ("float32 2 9 7 4", "float32 3 3 4 8"),
        "float32 2 7 5 8",
    ),
    (
        'nn.conv2d(data_layout="NHWC", kernel_layout="HWOI", groups=4, out_layout="NCHW")',
        ("float32 2 9 7 4", "float32 3 3 4 1"),
        "float32 2 4 7 5",
    ),
    ('nn.conv2d(out_dtype="int32")', ("int8 1 4 9 7", "int8 8 4 1 1"), "int32 1 8 9 7"),
    ("nn.conv2d_transpose(strides=[2, 2])", (_IMAGE, "float32 4 8 3 3"), "float32 1 8 19 15"),
    (
        "nn.conv2d_transpose(strides=[2, 2], padding=[1, 1], output_padding=[1, 0], groups=2)",
        (_IMAGE, "float32 4 8 3 3"),
        "float32 1 16 18 13",
    ),
    ("nn.dense(units=5)", ("float32 2 3", "float32 5 3"), "float32 2 5"),
    ("nn.dense(units=None)", ("float32 7 2 3", "float32 5 3"), "float32 7 2 5"),
    ("nn.batch_matmul()", ("float32 1 2 3", "float32 4 3 5"), "float32 4 2 5"),
    ("nn.batch_matmul(transpose_b=True)", ("float32 4 2 3", "float32 4 5 3"), "float32 4 2 5"),
    ("nn.bias_add(axis=-1)", (_IMAGE, "float32 7"), _IMAGE),
    ("nn.prelu()", (_IMAGE, "float32 4"), _IMAGE),
    ("nn.softmax()", ("float32 3 4",), "float32 3 4"),
    ("nn.l2_normalize(eps=1e-6f, axis=[1])", (_IMAGE,), _IMAGE),
    (
        "nn.batch_norm()",
        (_IMAGE, *["float32 4"] * 4),
        f"{_IMAGE} | float32 4 | float32 4",
    ),
    ("nn.max_pool2d(pool_size=[2, 2], strides=[2, 2])", (_IMAGE,), "float32 1 4 4 3"),
    (
        "nn.max_pool2d(pool_size=[2, 2], strides=[2, 2], ceil_mode=True)",
        (_IMAGE,),
        "float32 1 4 5 4",
    ),
    (
        'nn.avg_pool2d(pool_size=[3, 3], padding=[1, 1], layout="NHWC")',
        ("float32 1 9 7 4",),
        "float32 1 9 7 4",
    ),
    ("nn.global_avg_pool2d()", (_IMAGE,), "float32 1 4 1 1"),
    ('nn.global_max_pool2d(layout="NHWC")', (_IMAGE,), "float32 1 1 1 7"),
    ("nn.batch_flatten()", (_IMAGE,), "float32 1 252"),
    ("nn.upsampling(scale_h=2f, scale_w=1.5f)", (_IMAGE,), "float32 1 4 18 11"),
    ("image.resize2d(size=[3, 5])", (_IMAGE,), "float32 1 4 3 5"),
    ("nn.pad(pad_width=[[0, 1], [2, 3]])", ("int8 3 3", "int8"), "int8 4 8"),
    ('nn.mirror_pad(mode="REFLECT", pad_width=[[1, 1]])', ("int8 3",), "int8 5"),
    ("add()", ("float32 3 1 5", "float32 4 1"), "float32 3 4 5"),
    ("less()", ("int8 3", "int8"), "bool 3"),
    ("logical_and()", ("bool 3", "bool 1"), "bool 3"),
    ("where()", ("bool 3 1", "int8 4", "int8"), "int8 3 4"),
    ('cast(dtype="int8")', ("float32 3",), "int8 3"),
    ("reshape(newshape=[0, -1])", ("int8 2 3 4",), "int8 2 12"),
    ("reshape(newshape=[-2])", ("int8 2 3 4",), "int8 2 3 4"),
    ("reshape(newshape=[-3, 4])", ("int8 2 3 4",), "int8 6 4"),
    ("reshape(newshape=[-4, 1, 2, -2])", ("int8 2 3 4",), "int8 1 2 3 4"),
    ("reshape(newshape=[2, -4, -1, 3, -2])", ("int8 2 3 4",), "int8 2 1 3 4"),
    ("reshape(newshape=[-1, 0, 0])", ("int8 2 3 4",), "int8 2 3 4"),
    ("reshape(newshape=[])", ("int8 1 1",), "int8"),
    ("reshape(newshape=[0, 5], allowzero=True)", ("int8 0 3",), "int8 0 5"),
    ("squeeze()", ("int8 1 3 1",), "int8 3"),
    ("squeeze(axis=[-1])", ("int8 1 3 1",), "int8 1 3"),
    ("expand_dims(axis=1, num_newaxis=2)", ("int8 3 4",), "int8 3 1 1 4"),
    ("expand_dims(axis=-1)", ("int8 3 4",), "int8 3 4 1"),
    ("transpose(axes=[0, -1, 1])", ("int8 2 3 4",), "int8 2 4 3"),
    ("transpose(axes=None)", ("int8 2 3 4",), "int8 4 3 2"),
    ('layout_transform(src_layout="NCHW", dst_layout="NHWC")', (_IMAGE,), "float32 1 9 7 4"),
    ("broadcast_to(shape=[2, 3])", ("int8 3",), "int8 2 3"),
    ("tile(reps=[2, 1, 2])", ("int8 3 4",), "int8 2 3 8"),
    ("take(axis=1)", ("int8 2 3 4", "int32 5 6"), "int8 2 5 6 4"),
    ("take()", ("int8 2 3 4", "int32 5 6"), "int8 5 6"),
    ("take(axis=1, batch_dims=1)", ("int8 2 3", "int32 2 6"), "int8 2 6"),
    (
        "strided_slice(begin=[1, -1], end=[9, -5], strides=[2, -2], axes=None)",
        ("int8 6 4 3",),
        "int8 3 2 3",
    ),
    (
        'strided_slice(begin=[1], end=[-1], strides=[9], slice_mode="size", axes=[1])',
        ("int8 6 4",),
        "int8 6 3",
    ),
    ("split(indices_or_sections=2, axis=1)", ("int8 3 4",), "int8 3 2 | int8 3 2"),
    ("split(indices_or_sections=[1, 3])", ("int8 4",), "int8 1 | int8 2 | int8 1"),
    ("concatenate(axis=-1)", ("int8 3 4 | int8 3 2",), "int8 3 6"),
    ("stack(axis=1)", ("int8 3 4 | int8 3 4",), "int8 3 2 4"),
    ("mean()", (_IMAGE,), "float32"),
    ("sum(axis=[1, -1], keepdims=True)", (_IMAGE,), "float32 1 1 9 1"),
    ("max(axis=[1], exclude=True)", (_IMAGE,), "float32 4"),
    ("argmax(axis=[1])", (_IMAGE,), "int32 1 9 7"),
    ('zeros(shape=[2, 3], dtype="int8")', (), "int8 2 3"),
    ('full(shape=[2], dtype="")', ("int16",), "int16 2"),
    ("on_device(device_type=12)", (_IMAGE,), _IMAGE),
    ("device_copy(src_device_type=1, dst_device_type=12)", (_IMAGE,), _IMAGE),
    ('qnn.quantize(out_dtype="int8")', ("float32 3", "float32", "int32"), "int8 3"),
    ('qnn.quantize(out_dtype="int8", axis=0)', ("float32 3", "float32 3", "int32 3"), "int8 3"),
    ('qnn.dequantize(out_dtype="float32")', ("uint8 3", "float32", "int32"), "float32 3"),
    (
        'qnn.requantize(axis=1, out_dtype="uint8")',
        ("int32 3 5", "float32 5", "int32", "float32", "int32"),
        "uint8 3 5",
    ),
    (
        'qnn.conv2d(kernel_size=[3, 3], channels=8, out_dtype="int32")',
        ("int8 1 4 9 7", "int8 8 4 3 3", "int32", "int32", "float32", "float32 8"),
        "int32 1 8 7 5",
    ),
    (
        'qnn.dense(units=5, out_dtype="int32")',
        ("int8 2 3", "int8 5 3", "int32", "int32", "float32", "float32 5"),
        "int32 2 5",
    ),
    (
        "qnn.add()",
        ("int8 3 1", "int8 4", *["float32", "int32"] * 3),
        "int8 3 4",
    ),
    ("qnn.softmax()", ("int8 3 4", *["float32", "int32"] * 2), "int8 3 4"),
    (
        "qnn.concatenate(axis=1)",
        ("int8 3 1 | int8 3 2", "float32 | float32", "int32 | int32", "float32", "int32"),
        "int8 3 3",
    ),
]


@pytest.mark.parametrize(("call", "args", "expected"), _CASES, ids=[c[0] for c in _CASES])
def test_types(call: str, args: tuple[str, ...], expected: str) -> None:
    assert _typed(call, *args) == str(_type(expected))


@pytest.mark.parametrize(
    ("call", "args", "message"),
    [
        ("nn.conv2d()", (_IMAGE, "float32 8 3 3 3"), "input channels is 3, expected 4"),
        ("nn.conv2d()", (_IMAGE, "float32 8 4 10 3"), "spans 10, but the padded input only 9"),
        ("nn.conv2d(strides=[0, 1])", (_IMAGE, "float32 8 4 3 3"), r"strides is \[0, 1\]"),
        ("nn.conv2d(groups=3)", (_IMAGE, "float32 8 4 3 3"), "groups is 3, which does not divide"),
        ("nn.conv2d(channels=7)", (_IMAGE, "float32 8 4 3 3"), "channels is 7, expected 8"),
        ("nn.conv2d(kernel_size=[1, 1])", (_IMAGE, "float32 8 4 3 3"), "kernel_size is"),
        ("nn.conv2d()", ("float32 3", "float32 8 4 3 3"), r"\[3\], but data_layout is NCHW"),
        ("nn.dense(units=4)", ("float32 2 3", "float32 5 3"), r"weight has shape \[5, 3\], exp"),
        ("nn.batch_matmul()", ("float32 4 2 3", "float32 4 5 3"), "cannot multiply"),
        ("add()", ("float32 3", "float32 4"), r"do not broadcast: lhs has \[3\], rhs has \[4\]"),
        ("logical_and()", ("int8 3", "int8 3"), "expected dtype bool"),
        ("exp()", ("int8 3",), "expected a tensor of floats"),
        ("clip(a_min=1f, a_max=0f)", ("int8 3",), "a_min is 1.0, but a_max is only 0.0"),
        ("reshape(newshape=[5])", ("int8 3 4",), "12 elements, but newshape means"),
        ("reshape(newshape=[-1, -1])", ("int8 3 4",), "-1 twice"),
        ("reshape(newshape=[-5])", ("int8 3 4",), "the code -5"),
        ("reshape(newshape=[0, 0, 0])", ("int8 3 4",), "more axes than the data"),
        ("reshape(newshape=[-4, 2])", ("int8 3 4",), "ends within a split"),
        ("reshape(newshape=[-4, 2, 2, 4])", ("int8 3 4",), "splits an axis of 3 into 2 and 2"),
        ("squeeze(axis=[0])", ("int8 3",), "axis 0 of .* is not 1"),
        ("transpose(axes=[0, 0])", ("int8 3 4",), "expected an order of the axes"),
        ("split(indices_or_sections=3)", ("int8 4",), "into 3 equal parts"),
        ("split(indices_or_sections=[3, 1])", ("int8 4",), "cannot split an axis of 4 at"),
        ("concatenate()", ("int8 3 | int16 3",), "expected dtype int8"),
        ("concatenate()", ("int8 3 1 | int8 3 2",), "differ in more than axis 0"),
        ("stack()", ("int8 3 | int8 4",), "tensors of equal shape"),
        ("strided_slice(begin=[0], end=[1], strides=[0])", ("int8 4",), "strides has a 0"),
        ("broadcast_to(shape=[3])", ("int8 4",), "do not broadcast"),
        ("qnn.quantize(axis=0)", ("float32 3", "float32 4", "int32"), "output_scale is"),
        ("qnn.quantize()", ("float32 3", "float32", "int8"), "output_zero_point is int8"),
        ('qnn.requantize(rounding="UP", out_dtype="int8")', ("int32", *["float32", "int32"] * 2),
         "rounding is 'UP', expected 'None' or 'UPWARD' or 'TONEAREST'"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(call: str, args: tuple[str, ...], message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        _typed(call, *args)
    assert call.partition("(")[0] in str(caught.value)


@pytest.mark.parametrize("op", registry().values(), ids=lambda op: op.name)
def test_definitions_are_consistent(op: RelayOp) -> None:
    assert sorted(op.parameters) == sorted([*op.args, *(f.name for f in op.fields)])
    assert {*op.tuples, *op.defaults} <= set(op.args)
    for field in op.fields:
        for default in (field.default, field.built):
            if default is not REQUIRED:
                assert field.typed(default) == default


# What a TFLite file says with one operator and Relay with several, or with qnn parameters.
_ONLY_IN_GRAPHS = {
    *("nn.conv2d_hybrid", "nn.dense_hybrid", "nn.depthwise_conv2d", "nn.depthwise_conv2d_hybrid"),
    *("nn.elu", "nn.hard_swish", "nn.lstm", "nn.svdf", "lookup", "squared_difference"),
    # What the frontend makes of Relay's own requantize, and of scales that only say something else.
    *("qnn.rescale", "qnn.reinterpret"),
    "external",  # a call of a function
    *("branch", "loop"),  # calls of graphs, which Relay has as if and as recursion
    "slide",  # what a pass makes of a window that is kept between inferences
    # Relay has them, too, partly with other semantics; its frontend does not read them.
    *("all", "ceil", "cos", "cumprod", "cumsum", "dynamic_update_slice", "floor", "prod"),
    *("floor_divide", "floor_mod", "gather_nd", "round", "sin"),
    *("vision.multiclass_suppression", "vision.non_max_suppression"),
    # What only ONNX's frontend makes.
    *("axis_positions", "bitcast", "bitwise", "fmod", "grid_sample", "nd_positions", "power"),
    *("nn.recurrent", "nn.recurrent_hybrid", "real_function", "resample", "roi_align"),
    *("scatter", "topk"),
    *("vision.all_class_non_max_suppression", "squared_distances", "tree_ensemble"),
    # What only TFLite's frontend makes.
    *("atan2", "nn.conv2d_transpose_hybrid", "nn.embedding", "nn.dense_weight_only"),
    *("nn.conv2d_transpose_weight_only", "nn.conv2d_weight_only"),
    "nn.depthwise_conv2d_weight_only",
}


def test_what_graphs_have_relay_has_too() -> None:
    missing = set(graph_ops()) - set(registry())
    assert missing == _ONLY_IN_GRAPHS
