"""One importer per Relay operator. It reads a call's arguments and attributes and adds nodes.

Each module but ``arguments`` has ``IMPORTERS``, operator name -> importer, and is found by folder.
To add an operator, write its function and its row. Operators of ``qnn.*`` have their own modules.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from microgen.frontends import importers
from microgen.frontends.relay.calls import Importer


@functools.cache
def registry() -> Mapping[str, Importer]:
    """Operator name -> importer, for every supported operator, sorted."""
    return importers.table(__name__, __path__)
