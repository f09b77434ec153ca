"""One importer per TFLite operator: from its tensors and options to one or more nodes.

Found by folder: each module but ``arguments`` has ``IMPORTERS``, operator name -> importer. To add
an operator, write its function and its row.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from microgen.frontends import importers
from microgen.frontends.tflite.layers import Importer


@functools.cache
def registry() -> Mapping[str, Importer]:
    """Operator name -> importer, for every operator there is, sorted."""
    return importers.table(__name__, __path__)
