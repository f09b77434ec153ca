"""The shipped digits model: it is what its README says, and its scripts make it again."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"
README = (DIGITS / "README.md").read_text()

needs_litert = pytest.mark.skipif(
    importlib.util.find_spec("ai_edge_litert") is None,
    reason="needs ai-edge-litert: pip install -e '.[oracle]'",
)
needs_sklearn = pytest.mark.skipif(
    importlib.util.find_spec("sklearn") is None,
    reason="needs scikit-learn: pip install -e '.[examples]'",
)


def run_script(name: str, *arguments: str) -> str:
    command = [sys.executable, str(DIGITS / name), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


@pytest.mark.parametrize(
    "name", ["float_weights.npz", "digits_int8.tflite", "test_samples.npz", "digits_labels.npz"]
)
def test_readme_states_size_and_digest_of_each_shipped_file(name: str):
    data = (DIGITS / name).read_bytes()
    assert f"| {name} | {len(data)} | {hashlib.sha256(data).hexdigest()} |" in README


def test_samples_are_the_models_int8_input_and_have_a_label_each():
    with np.load(DIGITS / "test_samples.npz") as samples:
        assert samples.files == ["image"]
        image = samples["image"]
    labels = np.load(DIGITS / "digits_labels.npz")["labels"]
    assert (image.shape, image.dtype) == ((labels.size, 1, 8, 8, 1), np.int8)
    assert set(labels) == set(range(10))


def test_int8_accuracy_by_readme_is_at_least_96_percent():
    rows = re.findall(r"^\| int8 model, .* \| (\d+) of (\d+) \|$", README, re.MULTILINE)
    assert len(rows) == 2
    assert all(int(correct) >= 0.96 * int(count) for correct, count in rows)


@needs_litert
@needs_sklearn
def test_every_row_that_evaluate_measures_stands_in_the_readme():
    rows = [line for line in run_script("evaluate.py").splitlines() if line.startswith("|")]
    assert len(rows) == 7
    assert [row for row in rows if row not in README.splitlines()] == []


@needs_sklearn
def test_scripts_make_the_shipped_files_again_from_the_float_weights(tmp_path: Path):
    run_script("write_tflite.py", "--output", str(tmp_path))
    name = "digits_int8.tflite"
    assert (tmp_path / name).read_bytes() == (DIGITS / name).read_bytes()
    # zip archives differ between versions of Python
    for name in ("test_samples.npz", "digits_labels.npz"):
        with np.load(tmp_path / name) as made, np.load(DIGITS / name) as shipped:
            assert made.files == shipped.files
            assert all(np.array_equal(made[array], shipped[array]) for array in made.files)


@needs_sklearn
def test_gradients_of_training_are_those_of_finite_differences():
    check = (
        "import numpy as np, network\n"
        "random = np.random.RandomState(3)\n"
        "weights = network.initial_weights(random)\n"
        "images, labels = random.rand(4, 8, 8, 1), np.array([1, 5, 0, 9])\n"
        "def loss():\n"
        "    p = network.forward(weights, images)['softmax']\n"
        "    return -np.log(p[np.arange(4), labels]).mean()\n"
        "found = network.gradients(weights, network.forward(weights, images), labels)\n"
        "for name, weight in weights.items():\n"
        "    flat, index = weight.reshape(-1), random.randint(weight.size)\n"
        "    kept = flat[index]\n"
        "    flat[index] = kept + 1e-6; above = loss()\n"
        "    flat[index] = kept - 1e-6; below = loss()\n"
        "    flat[index] = kept\n"
        "    slope = (above - below) / 2e-6\n"
        "    assert abs(slope - found[name].reshape(-1)[index]) < 1e-6 + 1e-4 * abs(slope), name\n"
    )
    subprocess.run([sys.executable, "-c", check], check=True, cwd=DIGITS)
