"""One importer per TFLite operator. It reads the tensors and options and adds one or more nodes.

Each module but ``arguments`` has ``IMPORTERS``, operator name -> importer, and is found by folder.
To add an operator, write its function and its row.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from microgen.frontends import importers
from microgen.frontends.tflite.importers.arguments import Importer
from microgen.frontends.tflite.layers import FileLayer, Importing
from microgen.frontends.tflite.records import LIST_WRITE, OperatorRecord


def run(operators: Iterable[OperatorRecord], file: Importing) -> None:
    """Add the nodes of operators, in their order. Raises the errors of ``FileLayer``."""
    for operator in operators:
        layer = FileLayer(operator, file)
        layer.finished(registry()[operator.key](layer))


@functools.cache
def registry() -> Mapping[str, Importer]:
    """Operator name -> importer, for every supported operator, sorted."""
    return importers.table(__name__, __path__)


def supported() -> tuple[str, ...]:
    """The operators of files that have an importer."""
    return tuple(name for name in registry() if name != LIST_WRITE)
