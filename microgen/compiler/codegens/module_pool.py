"""The bytes of a module pool that the blob's loader takes, for pointers of a given size.

``crt/src/modules/module_types.h`` has the structure, and ``module_pool.h`` the blocks.
"""

from __future__ import annotations

from microgen.base.formats import c_layout
from microgen.base.formats.c_layout import struct_bytes

ALIGNMENT = 8  # MG_POOL_ALIGNMENT

# c_layout.struct_bytes has the letters.
_MODULE = "iiiii" + "p" + "ppb"  # mg_module, which ends with an mg_stream


def aligned(nbytes: int) -> int:
    """``MG_POOL_ALIGNED``."""
    return c_layout.aligned(nbytes, ALIGNMENT)


def loader_pool_bytes(n_modules: int, n_children: int, pointer_bytes: int) -> int:
    """``MG_MODULES_POOL_BYTES`` of a blob with an import tree, with pointers of 4 or 8 bytes.

    The bytes that the modules' own loaders take are not included.
    """
    module = struct_bytes(_MODULE, pointer_bytes)
    return aligned((n_modules + 2) * module) + aligned(4 * n_children)
