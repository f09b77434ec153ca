"""One importer per Relay operator: from a call's arguments and attributes to nodes of the graph.

Found by folder: each module but ``arguments`` has ``IMPORTERS``, operator name -> importer. To add
an operator, write its function and its row; those of ``qnn.*`` have a module of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from microgen.frontends import importers
from microgen.frontends.relay.calls import Importer


@functools.cache
def registry() -> Mapping[str, Importer]:
    """Operator name -> importer, for every operator there is, sorted."""
    return importers.table(__name__, __path__)
