"""Networks of Keras as they are in use: the blocks of known networks, made small."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.converters.keras_layers import Maker, joined, sequential


def networks() -> Mapping[str, Maker]:
    """All of them."""
    return {**_images(), **_signals(), **_several()}


def _images() -> Mapping[str, Maker]:
    image = (12, 12, 3)
    return {
        "lenet": joined((16, 16, 1), by=_lenet),
        "mobilenet_v1": joined(image, by=_mobilenet_v1),
        "mobilenet_v2": joined(image, by=_mobilenet_v2),
        "mobilenet_v3": joined(image, by=_mobilenet_v3),
        "resnet": joined(image, by=_resnet),
        "densenet": joined(image, by=_densenet),
        "inception": joined(image, by=_inception),
        "shufflenet": joined((8, 8, 8), by=_shufflenet),
        "convnext": joined((8, 8, 4), by=_convnext),
        "squeeze_excite": joined((6, 6, 8), by=_squeeze_excite),
        "unet": joined((8, 8, 2), by=_unet),
        "image_autoencoder": joined((8, 8, 1), by=_autoencoder),
        "upsampling_decoder": joined((6,), by=_decoder),
        "fully_convolutional": joined((9, 8, 3), by=_fully_convolutional),
        "mlp_mixer": joined((6, 8), by=_mixer),
        "vision_transformer": joined((8, 8, 3), by=_vision_transformer),
    }


def _signals() -> Mapping[str, Maker]:
    return {
        "ds_cnn": joined((25, 10, 1), by=_ds_cnn),
        "tcn": joined((16, 3), by=lambda x: _tcn(x, separable=False)),
        "tcn_separable": joined((16, 3), by=lambda x: _tcn(x, separable=True)),
        "wavenet": joined((16, 3), by=_wavenet),
        "unet1d": joined((16, 2), by=_unet1d),
        "conv_recurrent": joined((12, 8, 1), by=_conv_recurrent),
        "keyword_residual": joined((20, 8), by=_keyword_residual),
        "offsets": joined((10, 3), by=_offsets),
        "statistics": joined((10, 3), by=_statistics),
        "fast_sums": joined((8, 4), by=_sums),
    }


def _several() -> Mapping[str, Maker]:
    return {
        "many_inputs": joined(*[(1,)] * 19, by=_many_inputs),
        "image_and_numbers": joined((8, 8, 1), (4,), by=_image_and_numbers),
        "two_heads": joined((10,), by=_two_heads),
        "siamese": joined((8,), (8,), by=_siamese),
        "wide_and_deep": joined((6,), (4,), by=_wide_and_deep),
        "policy": sequential((5,), *_policy()),
    }


def _block(x: Any, filters: int, stride: int = 1, size: int = 3, kind: str = "relu") -> Any:
    """Convolution, normalization, activation."""
    from keras import layers as kl

    x = kl.Conv2D(filters, size, strides=stride, padding="same", use_bias=False)(x)
    return kl.Activation(kind)(kl.BatchNormalization()(x))


def _depthwise(x: Any, stride: int = 1, kind: str = "relu6") -> Any:
    from keras import layers as kl

    x = kl.DepthwiseConv2D(3, strides=stride, padding="same", use_bias=False)(x)
    return kl.Activation(kind)(kl.BatchNormalization()(x))


def _classified(x: Any, classes: int = 4) -> Any:
    from keras import layers as kl

    return kl.Dense(classes, activation="softmax")(kl.GlobalAveragePooling2D()(x))


def _lenet(x: Any) -> Any:
    from keras import layers as kl

    x = kl.MaxPooling2D()(kl.Conv2D(4, 5, activation="tanh")(x))
    x = kl.Flatten()(kl.AveragePooling2D(2)(kl.Conv2D(6, 3, activation="relu")(x)))
    return kl.Dense(5, activation="softmax")(kl.Dropout(0.5)(kl.Dense(12, activation="relu")(x)))


def _mobilenet_v1(x: Any) -> Any:
    x = _block(x, 4, stride=2, kind="relu6")
    for filters, stride in ((6, 1), (8, 2)):
        x = _block(_depthwise(x, stride), filters, size=1, kind="relu6")
    return _classified(x)


def _mobilenet_v2(x: Any) -> Any:
    from keras import layers as kl

    x = _block(x, 4, stride=2, kind="relu6")
    for stride in (1, 2):
        inner = _depthwise(_block(x, 12, size=1, kind="relu6"), stride)
        y = kl.BatchNormalization()(kl.Conv2D(4, 1, use_bias=False)(inner))
        x = kl.Add()([x, y]) if stride == 1 else y
    return _classified(x)


def _mobilenet_v3(x: Any) -> Any:
    from keras import layers as kl

    x = _block(x, 8, stride=2, kind="hard_silu")
    y = _depthwise(_block(x, 12, size=1, kind="hard_silu"), kind="hard_silu")
    pooled = kl.GlobalAveragePooling2D(keepdims=True)(y)
    gate = kl.Conv2D(12, 1, activation="hard_sigmoid")(kl.Conv2D(4, 1, activation="relu")(pooled))
    y = kl.BatchNormalization()(kl.Conv2D(8, 1, use_bias=False)(kl.Multiply()([y, gate])))
    return _classified(kl.Add()([x, y]))


def _resnet(x: Any) -> Any:
    from keras import layers as kl

    x = _block(x, 4)
    for filters, stride in ((4, 1), (8, 2)):
        y = _block(x, filters, stride)
        y = kl.BatchNormalization()(kl.Conv2D(filters, 3, padding="same", use_bias=False)(y))
        if stride > 1:
            x = kl.Conv2D(filters, 1, strides=stride)(x)
        x = kl.ReLU()(kl.Add()([x, y]))
    return _classified(x)


def _densenet(x: Any) -> Any:
    from keras import layers as kl

    for _ in range(3):
        y = kl.Conv2D(4, 3, padding="same")(kl.ReLU()(kl.BatchNormalization()(x)))
        x = kl.Concatenate()([x, y])
    return _classified(kl.AveragePooling2D(2)(kl.Conv2D(6, 1)(x)))


def _inception(x: Any) -> Any:
    from keras import layers as kl

    pooled = kl.MaxPooling2D(3, strides=1, padding="same")(x)
    wide = _block(_block(x, 3, size=1), 4, size=5)
    paths = [_block(x, 4, size=1), _block(_block(x, 3, size=1), 5), wide, _block(pooled, 3, size=1)]
    return _classified(kl.Concatenate()(paths))


def _shufflenet(x: Any) -> Any:
    from keras import layers as kl

    _, height, width, channels = x.shape
    y = kl.Conv2D(channels, 1, groups=2, activation="relu")(x)
    y = kl.Permute((1, 2, 4, 3))(kl.Reshape((height, width, 2, channels // 2))(y))
    y = _depthwise(kl.Reshape((height, width, channels))(y))
    return _classified(kl.ReLU()(kl.Add()([x, kl.Conv2D(channels, 1, groups=2)(y)])))


def _convnext(x: Any) -> Any:
    from keras import layers as kl

    y = kl.LayerNormalization(epsilon=1e-6)(kl.DepthwiseConv2D(5, padding="same")(x))
    y = kl.Dense(x.shape[-1])(kl.Dense(16, activation="gelu")(y))
    return _classified(kl.Add()([x, y]))


def _squeeze_excite(x: Any) -> Any:
    from keras import layers as kl

    gate = kl.Dense(2, activation="relu")(kl.GlobalAveragePooling2D()(x))
    gate = kl.Reshape((1, 1, 8))(kl.Dense(8, activation="sigmoid")(gate))
    return kl.Multiply()([x, gate])


def _unet(x: Any) -> Any:
    from keras import layers as kl

    first = _block(x, 4)
    second = _block(kl.MaxPooling2D()(first), 6)
    deep = _block(kl.MaxPooling2D()(second), 8)
    x = kl.Conv2DTranspose(6, 2, strides=2, padding="same")(deep)
    x = _block(kl.Concatenate()([x, second]), 6)
    x = kl.UpSampling2D(2, interpolation="bilinear")(x)
    x = _block(kl.Concatenate()([x, first]), 4)
    return kl.Conv2D(1, 1, activation="sigmoid")(x)


def _autoencoder(x: Any) -> Any:
    from keras import layers as kl

    x = kl.Conv2D(4, 3, strides=2, padding="same", activation="relu")(x)
    x = kl.Dense(5)(kl.Flatten()(x))
    x = kl.Reshape((4, 4, 2))(kl.Dense(32, activation="relu")(x))
    return kl.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid")(x)


def _decoder(x: Any) -> Any:
    from keras import layers as kl

    x = kl.Reshape((3, 3, 4))(kl.Dense(36)(x))
    for filters in (4, 2):
        x = kl.Conv2D(filters, 3, padding="same")(kl.UpSampling2D()(kl.LeakyReLU(0.2)(x)))
    return kl.Activation("tanh")(x)


def _fully_convolutional(x: Any) -> Any:
    from keras import layers as kl

    x = kl.Conv2D(5, 3, dilation_rate=2, padding="same", activation="relu")(x)
    return kl.Softmax()(kl.Conv2D(3, 1)(kl.SpatialDropout2D(0.1)(x)))


def _mixer(x: Any) -> Any:
    from keras import layers as kl

    y = kl.Permute((2, 1))(kl.LayerNormalization()(x))
    y = kl.Permute((2, 1))(kl.Dense(6)(kl.Dense(9, activation="gelu")(y)))
    x = x + y
    return kl.GlobalAveragePooling1D()(x + kl.Dense(8)(kl.LayerNormalization()(x)))


def _vision_transformer(x: Any) -> Any:
    from keras import layers as kl

    x = kl.Reshape((4, 8))(kl.Conv2D(8, 4, strides=4)(x))
    y = kl.LayerNormalization()(x)
    x = x + kl.MultiHeadAttention(2, 4)(y, y)
    return kl.Dense(3)(x[:, 0])


def _ds_cnn(x: Any) -> Any:
    from keras import layers as kl

    x = kl.Conv2D(8, (10, 4), strides=2, padding="same", use_bias=False)(x)
    x = kl.ReLU()(kl.BatchNormalization()(x))
    for _ in range(2):
        x = _block(_depthwise(x, kind="relu"), 8, size=1)
    x = kl.AveragePooling2D(x.shape[1:3])(x)
    return kl.Dense(4, activation="softmax")(kl.Flatten()(x))


def _tcn(x: Any, separable: bool) -> Any:
    from keras import layers as kl

    make = kl.SeparableConv1D if separable else kl.Conv1D
    for rate in (1, 2, 4):
        y = kl.ZeroPadding1D((2 * rate, 0))(x) if separable else x
        padding = "valid" if separable else "causal"
        y = make(5, 3, dilation_rate=rate, padding=padding, activation="relu")(y)
        x = kl.Add()([kl.Conv1D(5, 1)(x), kl.SpatialDropout1D(0.1)(y)])
    return kl.Dense(2)(x[:, -1, :])


def _wavenet(x: Any) -> Any:
    from keras import layers as kl

    x, skips = kl.Conv1D(4, 1)(x), []
    for rate in (1, 2):
        gate = kl.Conv1D(4, 2, dilation_rate=rate, padding="causal", activation="sigmoid")(x)
        y = kl.Conv1D(4, 2, dilation_rate=rate, padding="causal", activation="tanh")(x)
        y = kl.Multiply()([y, gate])
        skips.append(kl.Conv1D(4, 1)(y))
        x = kl.Add()([x, kl.Conv1D(4, 1)(y)])
    return kl.Conv1D(3, 1, activation="softmax")(kl.ReLU()(kl.Add()(skips)))


def _unet1d(x: Any) -> Any:
    from keras import layers as kl

    first = kl.Conv1D(4, 3, padding="same", activation="relu")(x)
    deep = kl.Conv1D(6, 3, padding="same", activation="relu")(kl.MaxPooling1D(2)(first))
    up = kl.Conv1DTranspose(4, 2, strides=2)(deep)
    both = kl.Concatenate()([up, first, kl.UpSampling1D(2)(deep)])
    return kl.Conv1D(1, 1, activation="sigmoid")(both)


def _conv_recurrent(x: Any) -> Any:
    from keras import layers as kl

    x = kl.MaxPooling2D((1, 2))(kl.Conv2D(3, 3, padding="same", activation="relu")(x))
    x = kl.Reshape((12, 12))(x)
    return kl.Dense(4, activation="softmax")(kl.Bidirectional(kl.GRU(4, return_sequences=True))(x))


def _keyword_residual(x: Any) -> Any:
    """A residual network over time, whose channels are the bands of a spectrogram."""
    from keras import layers as kl

    x = kl.Reshape((20, 1, 8))(x)
    y = kl.Conv2D(8, (9, 1), padding="same", use_bias=False)(x)
    y = kl.ReLU()(kl.BatchNormalization()(y))
    x = kl.ReLU()(kl.Add()([x, kl.BatchNormalization()(kl.Conv2D(8, (9, 1), padding="same")(y))]))
    return kl.Dense(4, activation="softmax")(kl.Flatten()(kl.AveragePooling2D((20, 1))(x)))


def _offsets(x: Any) -> Any:
    """Numbers beside tensors, and slices with offsets."""
    from keras import layers as kl

    x = (x - 0.5) * 2.0 + 0.1
    ratios = x[:, ::2][:, :1] / (abs(x[:, 1:]) + 2.0)
    steps = kl.Concatenate()([x[:, 1:] - x[:, :-1], x[:, 1:], ratios])
    return kl.Dense(3)(kl.Flatten()(1.0 - steps[:, 2:9:3]))


def _statistics(x: Any) -> Any:
    import keras

    ops = keras.ops
    parts = [ops.mean(x, 1), ops.max(x, 1), ops.min(x, 1), ops.sum(ops.square(x), 1)]
    spread = ops.sqrt(ops.var(x, 1) + 1e-3)
    return keras.layers.Dense(4)(ops.concatenate([*parts, spread], -1))


def _sums(x: Any) -> Any:
    import keras

    ops = keras.ops
    stacked = ops.stack([ops.abs(x), ops.exp(-ops.abs(x)), ops.log(ops.abs(x) + 1)], 1)
    rows = ops.transpose(ops.reshape(stacked, (-1, 3 * 8, 4)), (0, 2, 1))
    return ops.matmul(rows[:, :, :8], x) + ops.clip(ops.cos(x[:, :4]), -0.5, 0.5)


def _many_inputs(*given: Any) -> Any:
    from keras import layers as kl

    x = kl.Concatenate()(list(given))
    return kl.Dense(1, activation="sigmoid")(kl.Dense(8, activation="relu")(x))


def _image_and_numbers(image: Any, numbers: Any) -> Any:
    from keras import layers as kl

    x = kl.Flatten()(kl.MaxPooling2D(4)(kl.Conv2D(3, 3, padding="same", activation="relu")(image)))
    return kl.Dense(2)(kl.Concatenate()([x, kl.Dense(6, activation="relu")(numbers)]))


def _two_heads(x: Any) -> Any:
    from keras import layers as kl

    x = kl.Dense(12, activation="relu")(x)
    return [kl.Dense(3, activation="softmax", name="kind")(x), kl.Dense(2, name="place")(x)]


def _siamese(left: Any, right: Any) -> Any:
    import keras
    from keras import layers as kl

    tower = keras.Sequential([kl.Dense(8, activation="relu"), kl.Dense(4)])
    apart = keras.ops.abs(tower(left) - tower(right))
    return kl.Dense(1, activation="sigmoid")(apart)


def _wide_and_deep(deep: Any, wide: Any) -> Any:
    from keras import layers as kl

    deep = kl.Dense(6, activation="elu")(kl.Dense(10, activation="elu")(deep))
    return kl.Dense(1)(kl.Concatenate()([deep, wide]))


def _policy() -> list[Any]:
    from keras import layers as kl

    return [
        lambda: kl.Dense(16, activation="tanh"),
        lambda: kl.LayerNormalization(),
        lambda: kl.Dense(2, activation="tanh"),
        lambda: kl.Rescaling(2.0),
    ]
