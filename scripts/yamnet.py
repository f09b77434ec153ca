"""A network with the layers of YAMNet and random weights, as an int8 .tflite file: spectrograms of
96 x 64 become the probabilities of 521 sounds.

    python -m scripts.yamnet yamnet.tflite

The layers are those of MobileNet (Howard et al., "MobileNets", 2017, table 1) as YAMNet has them:
one channel at first, and a sigmoid of each class at the end. Weights take 3.7 MB at full width.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

CHECKOUT = Path(__file__).resolve().parent.parent
if str(CHECKOUT) not in sys.path:
    sys.path.insert(0, str(CHECKOUT))

from scripts.mobilenet_v2 import Net, channels  # noqa: E402
from tests.support.tflite_builder import build_model  # noqa: E402

FRAMES, BANDS, CLASSES, STEM = 96, 64, 521, 32
# Channels and stride of each pair of a depthwise and a pointwise convolution.
STAGES = (
    *((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)),
    *(((512, 1),) * 5),
    *((1024, 2), (1024, 1)),
)


def model(width: float = 1.0, seed: int = 0) -> bytes:
    """The bytes of the .tflite file: input int8 [1, 96, 64, 1], output int8 [1, 521]."""
    net = Net(np.random.RandomState(seed))
    image = net.image(FRAMES, BANDS, 1)
    data = net.convolution("layer1", image, channels(STEM * width), 3, 2)
    for number, (count, stride) in enumerate(STAGES, 2):
        data = net.depthwise(f"layer{number}/depthwise", data, stride)
        data = net.convolution(f"layer{number}/pointwise", data, channels(count * width))
    scores = net.dense("scores", net.mean("mean", data), CLASSES)
    net.sigmoid("probabilities", scores)
    return build_model(net.tensors, net.operators, ["image"], ["probabilities"])


def main() -> None:
    """Writes the file that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("file", type=Path)
    parser.add_argument("--width", type=float, default=1.0)
    arguments = parser.parse_args()
    arguments.file.write_bytes(model(arguments.width))


if __name__ == "__main__":
    main()
