"""``__tvm_dev_mblob``: the modules in a firmware in addition to its compiled operators.

The bytes are TVM v0.14's (``src/target/codegen.cc``, ``src/runtime/library_module.cc``):

    u64 nbytes     size of everything after this field
    u64 count      number of entries, including the import tree
    count x { string type key, payload }

``_lib`` represents the code that is compiled into the firmware, and has no payload.
``_import_tree``, the last entry, has ``vector<u64> row_ptr`` and ``vector<u64> child_indices``. See
docs/reference/module-blob.md.
"""

from microgen.relay.blob.reader import Blob, loads
from microgen.relay.blob.tree import LIBRARY, Module
from microgen.relay.blob.writer import dumps

__all__ = ["LIBRARY", "Blob", "Module", "dumps", "loads"]
