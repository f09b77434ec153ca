"""The measured networks: a row each, with its builder, its sizes and its kind."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scripts.bench.networks import attention, classic, images, mobile, sequences
from scripts.bench.networks.mobile import Outputs
from scripts.bench.networks.recurrent import Net


@dataclass(frozen=True)
class Row:
    """A network: ``build`` draws it with these sizes. ``kind``: int8, int16 or float32."""

    build: Callable[..., Outputs]
    sizes: tuple[Any, ...]
    kind: str = "int8"
    options: dict[str, Any] = field(default_factory=dict)


def _row(build: Callable[..., Outputs], *sizes: Any, **options: Any) -> Row:
    return Row(build, sizes, options=options)


_MBCONV = ((3, 1, 10, 1), (5, 4, 18, 2), (5, 4, 18, 1), (3, 6, 36, 2), (3, 6, 36, 1))
_MIXED = ((7, 3, 12, 2), (5, 4, 20, 1), (3, 5, 20, 1), (7, 5, 28, 2), (5, 6, 44, 2), (7, 3, 44, 1))
_SMALL = ((3, 2, 16, 2), (5, 3, 26, 2), (5, 4, 26, 1), (5, 3, 40, 2))

_INT8: dict[str, Row] = {
    "efficientnet_56": _row(mobile.efficientnet_lite, 56, 14, _MBCONV, 144, 12),
    "efficientnet_40": _row(mobile.efficientnet_lite, 40, 22, _MBCONV[1:], 90, 5),
    "mcunet_64": _row(mobile.efficientnet_lite, 64, 12, _MIXED, 88, 2),
    "mcunet_50": _row(mobile.efficientnet_lite, 50, 16, _MIXED[:4], 68, 3),
    "mobilenet_v3_48": _row(mobile.mobilenet_v3, 48, _SMALL, 120, 7),
    "mobilenet_v3_72": _row(mobile.mobilenet_v3, 72, _SMALL[:3], 52, 21),
    "fomo_80": _row(mobile.fomo, 80, ((3, 1, 8, 1), (3, 6, 14, 2), (3, 6, 14, 1)), 3),
    "ghostnet_44": _row(mobile.ghostnet, 44, (20, 28, 44, 60), 10),
    "shufflenet_v2_56": _row(mobile.shufflenet, 56, (28, 52, 92), 9),
    "shufflenet_v2_36": _row(mobile.shufflenet, 36, (44, 76), 4),
    "shufflenet_v1_48": _row(mobile.shuffled_groups, 48, (24, 24, 48, 48), 3, 10),
    "shufflenet_v1_28": _row(mobile.shuffled_groups, 28, (32, 64, 64), 4, 6),
    "speech_8": _row(mobile.speech, 44, 36, (9, 7), 7, 5),
    "speech_4": _row(mobile.speech, 62, 22, (12, 6), 5, 3),
    "ds_cnn_52": _row(mobile.ds_cnn, 46, 13, 52, 3, (9, 4)),
    "ds_cnn_100": _row(mobile.ds_cnn, 30, 20, 100, 2, (5, 5)),
    "resnet14_28": _row(classic.resnet, 28, (12, 20, 36), 2, 10),
    "resnet_odd": _row(classic.resnet, 25, (11, 19, 37), 1, 7),
    "resnet_few": _row(classic.resnet, 30, (3, 5, 6), 1, 4, depth=1),
    "resnext_24": _row(classic.resnet, 24, (16, 32, 48), 1, 8, groups=4),
    "resnext_20": _row(classic.resnet, 20, (20, 30), 2, 5, groups=2),
    "lenet_26": _row(classic.plain, (26, 26, 1), ((5, 5, 1), (14, 5, 2)), (60, 10)),
    "wide_head": _row(classic.plain, (28, 20, 1), ((8, 3, 2),), (130, 40, 6)),
    "floats_54": _row(
        classic.plain, (54, 54, 3), ((7, 3, 2), (13, 3, 2), (21, 3, 1)), (9,), floats=True
    ),
    "floats_sound": _row(classic.plain, (98, 36, 1), ((12, 5, 3), (18, 3, 2)), (4,), floats=True),
    "odd_channels": _row(classic.plain, (31, 23, 3), ((7, 3, 1), (13, 3, 2), (29, 3, 2)), (17, 5)),
    "few_channels": _row(classic.plain, (60, 44, 1), ((2, 3, 1), (3, 3, 2), (4, 3, 2)), (3,)),
    "squeezenet_48": _row(classic.squeezenet, 48, ((6, 12), (10, 20), (12, 28)), 9),
    "squeezenet_63": _row(classic.squeezenet, 63, ((5, 10), (8, 18)), 3),
    "inception_32": _row(classic.inception, 32, (12, 24), 6),
    "inception_42": _row(classic.inception, 42, (6, 14, 20), 11),
    "densenet_32": _row(classic.densenet, 32, 6, (3, 3), 10),
    "densenet_44": _row(classic.densenet, 44, 5, (2, 4, 3), 8),
    "siamese_30": _row(classic.siamese, 30, (10, 22, 34), 24),
    "elu_36": _row(classic.elu, 36, (10, 22, 30), 6),
    "landmarks_52": _row(classic.towers, 52, 2, 12),
    "landmarks_66": _row(classic.towers, 66, 3, 6),
    "unet_nearest": _row(images.unet, 32, 40, (6, 12, 20), 2, "nearest"),
    "unet_bilinear": _row(images.unet, 40, 24, (7, 14, 26), 1, "bilinear"),
    "unet_transposed": _row(images.unet, 24, 32, (8, 14, 28), 3, "transposed"),
    "yolo_64": _row(images.yolo, 64, (6, 12, 20, 40), 2, 3),
    "yolo_48": _row(images.yolo, 48, (8, 14, 30), 3, 1),
    "segments_40": _row(images.dilated, 40, 20, (1, 2, 4), 4),
    "segments_28": _row(images.dilated, 28, 28, (2, 3), 2),
    "super_resolution_2": _row(images.super_resolution, (24, 28), 12, 2, 2),
    "super_resolution_3": _row(images.super_resolution, (20, 15), 18, 1, 3),
    "autoencoder_36": _row(images.autoencoder, 36, (8, 14, 26)),
    "generator_7": _row(images.generator, 7, (22, 14, 6)),
    "padded_40": _row(images.padded, 40, 28, (12, 18, 28, 36)),
    "tcn_90": _row(sequences.tcn, 90, 5, 20, (1, 2, 4, 8), 3),
    "tcn_140": _row(sequences.tcn, 140, 3, 14, (1, 3, 9), 5),
    "ecg_300": _row(sequences.ecg, 300, 1, ((12, 15, 1), (18, 7, 1), (26, 5, 1)), 5),
    "ecg_512": _row(sequences.ecg, 512, 3, ((10, 31, 2), (22, 9, 1)), 9),
    "bc_resnet_36": _row(sequences.bc_resnet, 36, 50, (14, 14, 20, 28), 12),
    "gru_12": _row(sequences.gru, 12, 14, 36, 6),
    "lstm_36": _row(sequences.lstm, 36, 22, (28,), 6),
    "lstm_two": _row(sequences.lstm, 14, 90, (70, 44), 10),
    "crnn_44": _row(sequences.crnn, 44, 36, 10, 30, 8),
    "dense_600": _row(sequences.dense, (600, 230, 70, 12)),
    "dense_each": _row(sequences.dense, (380, 140, 28, 140, 380), each=True),
    "streaming_60": _row(sequences.streaming, 60, 32, 44, 3),
    "vit_32": _row(attention.vit, 32, 4, 24, 2, 1, 6),
    "vit_28": _row(attention.vit, 28, 7, 40, 4, 2, 10),
    "encoder_30": _row(attention.encoder, 30, 12, 36, 3, 1),
    "encoder_56": _row(attention.encoder, 56, 20, 28, 2, 2),
    "mixer_40": _row(attention.mixer, 40, 5, 28, (36, 72), 2),
    "convnext_48": _row(attention.convnext, 48, (16, 28), 7),
    "convnext_64": _row(attention.convnext, 64, (14, 22, 38), 5, norms=False),
}


def _as(kind: str, *names: str) -> dict[str, Row]:
    rows = (_INT8[name] for name in names)
    return {
        f"{name}_{kind}": Row(row.build, row.sizes, kind, row.options)
        for name, row in zip(names, rows, strict=True)
    }


ROWS: dict[str, Row] = {
    **_INT8,
    **_as("int16", "efficientnet_40", "ds_cnn_52", "resnet_odd", "ecg_300", "dense_600"),
    **_as("int16", "unet_nearest", "densenet_32"),
    **_as("float32", "efficientnet_40", "mobilenet_v3_48", "resnet_odd", "ds_cnn_52", "ecg_300"),
    **_as("float32", "dense_600", "tcn_90", "lstm_36", "unet_transposed", "inception_32"),
    **_as("float32", "encoder_30", "elu_36"),
}


@functools.cache
def model(name: str) -> bytes:
    """The bytes of a row's .tflite file. The same name gives the same bytes."""
    row = ROWS[name]
    seed = zlib.crc32(name.removesuffix(f"_{row.kind}").encode())
    # RandomState's stream is frozen by numpy's compatibility policy; default_rng's is not.
    net = Net(row.kind, np.random.RandomState(seed))
    return net.file(row.build(net, *row.sizes, **row.options))
