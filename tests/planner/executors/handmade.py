"""Takes handmade graphs through the whole pipeline, as if they came from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen import frontends, pipeline
from microgen.graph.ir.graph import Graph
from microgen.options import Options
from microgen.project.firmware.compiled import Compiled
from microgen.target import board as boards


def compiled(
    graph: Graph, options: Options, folder: Path, patch: pytest.MonkeyPatch, board: str = "native"
) -> Compiled:
    model = folder / "model.tflite"
    model.write_bytes(b"a stand-in")
    patch.setattr(frontends, "graph_of", lambda *_, **__: graph)
    return pipeline.compile_model(model, boards.load(board), options)
