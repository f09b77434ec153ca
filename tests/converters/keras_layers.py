"""Networks of Keras around one kind of layer each: dense, activations, convolutions, pools,
normalization, merging, shapes.

Each network is a function from the batch (None if unset) to a model. Keras is imported when one is
made, because no test needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Maker = Callable[[int | None], Any]

ACTIVATIONS = {
    "relu": ("relu", "relu6", "leaky_relu", "squareplus"),
    "exponential": ("elu", "selu", "celu", "exponential"),
    "gelu": ("gelu", "silu", "mish"),
    "sigmoid": ("sigmoid", "tanh", "softsign", "log_sigmoid"),
    "soft": ("softplus", "softmax", "log_softmax"),
    "hard": ("hard_sigmoid", "hard_silu", "hard_tanh", "glu"),
    "shrink": ("hard_shrink", "soft_shrink", "tanh_shrink"),
    "sparse": ("sparse_plus", "sparse_sigmoid", "linear"),
}


def sequential(shape: tuple[int | None, ...], *layers: Any, dtype: str = "float32") -> Maker:
    """A chain of layers. A layer is a function, so that each model has layers of its own."""
    import keras

    def make(batch: int | None) -> Any:
        x = given = keras.Input(shape, batch_size=batch, dtype=dtype)
        for layer in layers:
            x = layer()(x)
        return keras.Model(given, x)

    return make


def joined(*shapes: tuple[int, ...], by: Callable[..., Any]) -> Maker:
    """Inputs of ``shapes``, and what ``by`` computes of them."""
    import keras

    def make(batch: int | None) -> Any:
        given = [
            keras.Input(shape, batch_size=batch, name=f"f{i}") for i, shape in enumerate(shapes)
        ]
        return keras.Model(given, by(*given))

    return make


def dense() -> Mapping[str, Maker]:
    """Dense layers of all ranks, and what stands between them."""
    from keras import layers as kl

    tie = [lambda: kl.Dense(16, activation="relu"), lambda: kl.Dense(4, activation="softmax")]
    return {
        "mlp": sequential((8,), *tie),
        "dense_rank3": sequential(
            (6, 5), lambda: kl.Dense(7, activation="relu"), lambda: kl.Dense(3)
        ),
        "dense_rank4": sequential((3, 4, 5), lambda: kl.Dense(6, use_bias=False)),
        "einsum_dense": sequential(
            (6, 5), lambda: kl.EinsumDense("abc,cd->abd", (None, 7), bias_axes="d")
        ),
        "einsum_heads": sequential((6, 8), lambda: kl.EinsumDense("abc,cde->abde", (None, 2, 4))),
        "dense_batch_norm": sequential(
            (8,),
            lambda: kl.Dense(12, use_bias=False),
            kl.BatchNormalization,
            kl.ReLU,
            lambda: kl.Dropout(0.2),
            lambda: kl.GaussianNoise(0.1),
            lambda: kl.Dense(3, activation="sigmoid"),
        ),
        "dense_autoencoder": sequential(
            (16,),
            lambda: kl.Dense(8, activation="relu"),
            lambda: kl.Dense(3, activation="tanh"),
            lambda: kl.Dense(8, activation="relu"),
            lambda: kl.Dense(16, activation="sigmoid"),
        ),
        "standardized": sequential(
            (6,),
            lambda: kl.Normalization(mean=[0.5, 1, 2, 0, -1, 3], variance=[1, 2, 3, 4, 0.5, 1]),
            lambda: kl.Dense(4),
            lambda: kl.Rescaling(0.25, offset=-1.0),
        ),
    }


def activations() -> Mapping[str, Maker]:
    """All activations of Keras, by functions and by layers, each after a dense layer."""
    import keras
    from keras import layers as kl

    def each(functions: tuple[Callable[[], Any], ...]) -> Maker:
        def by(x: Any) -> Any:
            return kl.Concatenate()([make()(kl.Dense(6)(x)) for make in functions])

        return joined((5,), by=by)

    def layer(name: str) -> Callable[[], Any]:
        return lambda: kl.Activation(name)

    by_name = {
        f"activations_{kind}": each(tuple(layer(name) for name in names))
        for kind, names in ACTIVATIONS.items()
    }
    return by_name | {
        "gelu_approximate": each((lambda: lambda x: keras.activations.gelu(x, approximate=True),)),
        "activation_layers": each(
            (
                lambda: kl.ReLU(max_value=4.0, negative_slope=0.1, threshold=0.5),
                lambda: kl.LeakyReLU(0.2),
                lambda: kl.ELU(0.7),
                lambda: kl.PReLU("uniform"),
            )
        ),
        "prelu_shared": sequential(
            (6, 5, 3),
            lambda: kl.Conv2D(4, 3),
            lambda: kl.PReLU("uniform", shared_axes=[1, 2]),
            lambda: kl.Softmax(axis=-1),
        ),
        "threshold": each((lambda: lambda x: keras.activations.threshold(x, 0.2, -0.1),)),
        "softmax_axis": sequential((6, 4), lambda: kl.Dense(5), lambda: kl.Softmax(axis=1)),
        "sparsemax": sequential((5,), lambda: kl.Dense(6, activation="sparsemax")),
    }


def convolutions_1d() -> Mapping[str, Maker]:
    """Convolutions over sequences."""
    from keras import layers as kl

    def of(make: Callable[..., Any], *args: Any, **options: Any) -> Maker:
        return sequential((12, 4), lambda: make(*args, activation="relu", **options))

    return {
        "conv1d": of(kl.Conv1D, 6, 3),
        "conv1d_same_strided": of(kl.Conv1D, 6, 3, strides=2, padding="same"),
        "conv1d_dilated": of(kl.Conv1D, 6, 3, dilation_rate=2),
        "conv1d_dilated_same": of(kl.Conv1D, 6, 3, dilation_rate=2, padding="same"),
        "conv1d_causal": of(kl.Conv1D, 6, 3, dilation_rate=2, padding="causal"),
        "conv1d_grouped": of(kl.Conv1D, 6, 3, groups=2),
        "conv1d_transposed": of(kl.Conv1DTranspose, 6, 3, strides=2, padding="same"),
        "depthwise_conv1d": of(kl.DepthwiseConv1D, 3, depth_multiplier=2, padding="same"),
        "separable_conv1d": of(kl.SeparableConv1D, 6, 3, padding="same"),
        "separable_conv1d_dilated": of(kl.SeparableConv1D, 6, 3, dilation_rate=2),
    }


def convolutions_2d() -> Mapping[str, Maker]:
    """Convolutions over images."""
    from keras import layers as kl

    def of(make: Callable[..., Any], *args: Any, **options: Any) -> Maker:
        return sequential((8, 7, 4), lambda: make(*args, activation="relu", **options))

    return {
        "conv2d": of(kl.Conv2D, 6, 3),
        "conv2d_strided_same": of(kl.Conv2D, 6, (3, 2), strides=2, padding="same"),
        "conv2d_dilated": of(kl.Conv2D, 6, 3, dilation_rate=2),
        "conv2d_dilated_same": of(kl.Conv2D, 6, 3, dilation_rate=(2, 3), padding="same"),
        "conv2d_grouped": of(kl.Conv2D, 6, 3, groups=2, padding="same"),
        "conv2d_transposed": of(kl.Conv2DTranspose, 5, 3, strides=2, padding="same"),
        "conv2d_transposed_valid": of(kl.Conv2DTranspose, 5, (2, 3), strides=(2, 1)),
        "depthwise_conv2d": of(kl.DepthwiseConv2D, 3, padding="same"),
        "depthwise_conv2d_multiplied": of(kl.DepthwiseConv2D, 3, depth_multiplier=2, strides=2),
        "depthwise_conv2d_dilated": of(
            kl.DepthwiseConv2D, 3, dilation_rate=2, padding="same", use_bias=False
        ),
        "separable_conv2d": of(kl.SeparableConv2D, 6, 3, strides=2),
        "conv3d": sequential((5, 6, 5, 2), lambda: kl.Conv3D(3, 3, activation="relu")),
    }


def pools() -> Mapping[str, Maker]:
    """Pools, local and global."""
    from keras import layers as kl

    def after(shape: tuple[int, ...], *makers: Callable[[], Any]) -> Maker:
        def by(x: Any) -> Any:
            return kl.Concatenate()([kl.Flatten()(make()(x)) for make in makers])

        return joined(shape, by=by)

    return {
        "pools1d": after(
            (11, 3),
            lambda: kl.MaxPooling1D(2),
            lambda: kl.MaxPooling1D(3, strides=2, padding="same"),
            lambda: kl.AveragePooling1D(3, padding="same"),
            lambda: kl.AveragePooling1D(4, strides=1),
        ),
        "pools2d": after(
            (9, 8, 3),
            lambda: kl.MaxPooling2D(2),
            lambda: kl.MaxPooling2D(3, strides=2, padding="same"),
            lambda: kl.AveragePooling2D((2, 3), padding="same"),
            lambda: kl.AveragePooling2D(3, strides=1),
        ),
        "global_pools1d": after((7, 3), kl.GlobalAveragePooling1D, kl.GlobalMaxPooling1D),
        "global_pools2d": after(
            (5, 6, 3),
            kl.GlobalAveragePooling2D,
            kl.GlobalMaxPooling2D,
            lambda: kl.GlobalAveragePooling2D(keepdims=True),
            lambda: kl.GlobalMaxPooling2D(keepdims=True),
        ),
        "global_pools3d": after((4, 6, 5, 2), kl.GlobalAveragePooling3D, kl.GlobalMaxPooling3D),
    }


def normalizations() -> Mapping[str, Maker]:
    """Normalization, alone and where convolutions take it in."""
    from keras import layers as kl

    return {
        "batch_norm": sequential((6, 4), kl.BatchNormalization),
        "conv_batch_norm": sequential(
            (6, 5, 3),
            lambda: kl.Conv2D(4, 3, use_bias=False),
            kl.BatchNormalization,
            kl.ReLU,
            lambda: kl.DepthwiseConv2D(3, padding="same"),
            lambda: kl.BatchNormalization(scale=False),
            lambda: kl.Activation("relu6"),
        ),
        "batch_norm_conv": sequential(
            (6, 5, 3), kl.BatchNormalization, lambda: kl.Conv2D(4, 3, padding="same")
        ),
        "layer_norm": sequential((6, 8), kl.LayerNormalization, lambda: kl.Dense(3)),
        "layer_norm_axes": sequential(
            (4, 5, 3), lambda: kl.LayerNormalization(axis=(1, 2, 3), center=False)
        ),
        "rms_norm": sequential((6, 8), kl.RMSNormalization),
        "group_norm": sequential((5, 4, 8), lambda: kl.GroupNormalization(4)),
        "instance_norm": sequential((5, 4, 3), lambda: kl.GroupNormalization(-1)),
        "unit_norm": sequential((6, 4), lambda: kl.UnitNormalization(axis=-1)),
    }


def merging() -> Mapping[str, Maker]:
    """Layers of several inputs."""
    from keras import layers as kl

    def by(make: Callable[[], Any], *more: tuple[int, ...]) -> Maker:
        return joined((5, 4), *(more or [(5, 4)]), by=lambda *given: make()(given))

    def sides(x: Any, y: Any) -> Any:
        return kl.Add()([kl.Dense(4)(x), kl.Multiply()([y, kl.Dense(1, activation="sigmoid")(x)])])

    return {
        "add": by(kl.Add, (5, 4), (5, 4)),
        "subtract": by(kl.Subtract),
        "multiply": by(kl.Multiply),
        "average": by(kl.Average, (5, 4), (5, 4)),
        "maximum": by(kl.Maximum, (5, 4), (5, 4)),
        "minimum": by(kl.Minimum),
        "add_broadcast": by(kl.Add, (1, 4)),
        "multiply_broadcast": by(kl.Multiply, (5, 1)),
        "concatenate": by(kl.Concatenate, (5, 2), (5, 1)),
        "concatenate_time": by(lambda: kl.Concatenate(axis=1), (3, 4)),
        "dot": by(lambda: kl.Dot(axes=2), (6, 4)),
        "dot_normalized": joined((6,), (6,), by=lambda *given: kl.Dot(1, normalize=True)(given)),
        "gated_sides": joined((5, 4), (5, 4), by=sides),
    }


def shapes() -> Mapping[str, Maker]:
    """Layers that move elements."""
    from keras import layers as kl

    return {
        "cropping1d": sequential((9, 3), lambda: kl.Cropping1D((2, 1)), lambda: kl.Conv1D(4, 2)),
        "cropping2d": sequential((7, 8, 3), lambda: kl.Cropping2D(((1, 2), (0, 3)))),
        "padding1d": sequential((6, 3), lambda: kl.ZeroPadding1D((2, 1)), lambda: kl.Conv1D(4, 3)),
        "padding2d": sequential(
            (6, 5, 3), lambda: kl.ZeroPadding2D(((0, 1), (2, 1))), lambda: kl.Conv2D(4, 3)
        ),
        "reshape": sequential(
            (12,), lambda: kl.Dense(24), lambda: kl.Reshape((4, -1)), lambda: kl.Conv1D(4, 2)
        ),
        "permute": sequential((4, 6), lambda: kl.Permute((2, 1)), lambda: kl.Dense(3)),
        "permute_rank4": sequential((4, 3, 2), lambda: kl.Permute((3, 1, 2)), kl.Flatten),
        "repeat_vector": sequential((5,), lambda: kl.RepeatVector(4), lambda: kl.Dense(3)),
        "flatten": sequential((4, 3, 2), lambda: kl.Conv2D(3, 2), kl.Flatten, lambda: kl.Dense(4)),
        "upsampling1d": sequential((5, 3), lambda: kl.UpSampling1D(3), lambda: kl.Conv1D(2, 2)),
        "upsampling2d": sequential((4, 3, 2), lambda: kl.UpSampling2D((2, 3))),
        "upsampling2d_bilinear": sequential(
            (4, 3, 2), lambda: kl.UpSampling2D(2, interpolation="bilinear")
        ),
        "resizing": sequential((4, 5, 2), lambda: kl.Resizing(7, 3)),
        "resizing_nearest": sequential((4, 5, 2), lambda: kl.Resizing(7, 3, "nearest")),
        "center_crop": sequential((7, 8, 2), lambda: kl.CenterCrop(4, 3)),
    }
