"""The checkouts from which TensorFlow Lite Micro is built."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from microgen.base.errors import UsageError

VARIABLE = "TFLM_SOURCES"
# Those that TensorFlow Lite Micro's own makefile downloads at its commit.
COMMITS = {
    "tflite-micro": "90b983c2b3f1480642e040bbd2ddb37b998f3424",
    "cmsis-nn": "4ab83cc3cc98fb85ed6dafb55e8ca02f1628dcae",
    "flatbuffers": "187240970746d00bbd26b0f5873ed54d2477f9f3",
    "gemmlowp": "719139ce755a0f31cbf1c37f7f98adcc7fc9f425",
    "ruy": "d37128311b445e758136b8602d1bbd2a755e115d",
}


def folder() -> Path:
    """The folder of the checkouts. Raises UsageError if it is not set, or a checkout is missing or
    at another commit than the committed figures are of."""
    named = os.environ.get(VARIABLE, "")
    names = ", ".join(COMMITS)
    hint = (
        f"set {VARIABLE} to a folder with checkouts of {names}: see scripts/bench/tflm/sources.py"
    )
    if not named:
        raise UsageError("there are no sources of TensorFlow Lite Micro", where="--peer", hint=hint)
    place = Path(named)
    for name, commit in COMMITS.items():
        command = ["git", "-C", str(place / name), "rev-parse", "HEAD"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        found = ran.stdout.strip() or "nothing"
        if found != commit:
            message = f"{name} is at {found}, not at {commit}"
            raise UsageError(message, where=f"${VARIABLE}", hint=hint)
    return place
