"""Trains a network with PyTorch, exports it as ONNX and quantizes it: docs/guides/pytorch.md."""

from pathlib import Path

import torch
from onnxruntime import quantization as ort
from sklearn.datasets import load_digits

TRAINING, BUILD = 1437, Path(__file__).parent / "build"
RESULT = BUILD / "digits_qdq.onnx"
torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images[:, None] / 16, dtype=torch.float32)  # [N,1,8,8]
labels = torch.tensor(digits.target)


class Samples(ort.CalibrationDataReader):
    rest = iter(images[:200, None].numpy())

    def get_next(self):
        return next(({"image": image} for image in self.rest), None)


network = torch.nn.Sequential(
    *(torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU()),
    *(torch.nn.Conv2d(8, 16, 3, stride=2, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU()),
    *(torch.nn.Flatten(), torch.nn.Linear(256, 10)),
)
optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
for _ in range(100):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(network(images[:TRAINING]), labels[:TRAINING]).backward()
    optimizer.step()
BUILD.mkdir(exist_ok=True)
torch.onnx.export(network.eval(), (images[:1],), BUILD / "f.onnx", input_names=["image"])
ort.quant_pre_process(BUILD / "f.onnx", BUILD / "p.onnx")
int8 = {"activation_type": ort.QuantType.QInt8, "weight_type": ort.QuantType.QInt8}
ort.quantize_static(BUILD / "p.onnx", RESULT, Samples(), per_channel=True, **int8)
right = (network(images[TRAINING:]).argmax(1) == labels[TRAINING:]).float().mean()
print(f"{right:.1%} of {len(labels) - TRAINING} further images are right in float32; see {RESULT}")
