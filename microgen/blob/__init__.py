"""``__tvm_dev_mblob``: the modules that a firmware carries beside its compiled operators.

The bytes are TVM v0.14's (``src/target/codegen.cc``, ``src/runtime/library_module.cc``):

    u64 nbytes     of everything behind this field
    u64 count      of what follows, the import tree included
    count x { string type key, payload }

``_lib`` stands for what is compiled into the firmware and has no payload; ``_import_tree``, the
last, has ``vector<u64> row_ptr`` and ``vector<u64> child_indices``. docs/module-blob.md says more.
"""

from microgen.blob.reader import Blob, loads
from microgen.blob.tree import LIBRARY, Module
from microgen.blob.writer import dumps

__all__ = ["LIBRARY", "Blob", "Module", "dumps", "loads"]
