"""A code generator for ``--codegen-path tests/toy_codegen``: it computes relu by its own runtime.

microgen does not know its payload, ``string symbol, u64 limit``.
"""

from __future__ import annotations

from collections.abc import Sequence

from microgen.base.formats import byte_stream
from microgen.compiler.codegens.external import (
    ExternalCodegen,
    ExternalFunction,
    LoadedModule,
    Runtime,
    RuntimeFunction,
)
from microgen.relay.transform import Support
from microgen.target.board import Board

HEADER = b"""\
#ifndef TOY_H
#define TOY_H

#include "modules/module_blob.h"

tvm_crt_error_t toy_load(mg_stream *payload, mg_pool *pool, void **module);
tvm_crt_error_t toy_find(const void *module, mg_text symbol, uint32_t *function);
tvm_crt_error_t toy_init(void *module, uint32_t function, uint32_t index, mg_text name,
                         const DLTensor *constant);
tvm_crt_error_t toy_run(void *module, uint32_t function, const mg_module_call *call);

#endif
"""

SOURCE = b"""\
#include "toy.h"

typedef struct {
    mg_text symbol;
    uint32_t limit;
} toy;

tvm_crt_error_t toy_load(mg_stream *payload, mg_pool *pool, void **module)
{
    toy *const made = mg_pool_take(pool, 1U, sizeof(toy));

    if (made == NULL) {
        return kTvmErrorPlatformNoMemory;
    }
    mg_stream_string(payload, &made->symbol);
    made->limit = mg_stream_unsigned(payload);
    *module = made;
    return payload->failed ? kTvmErrorExecutorGraphMalformed : kTvmErrorNoError;
}

tvm_crt_error_t toy_find(const void *module, mg_text symbol, uint32_t *function)
{
    *function = 0U;
    return mg_text_same(((const toy *)module)->symbol, symbol) ? kTvmErrorNoError
                                                               : kTvmErrorFunctionNameNotFound;
}

tvm_crt_error_t toy_init(void *module, uint32_t function, uint32_t index, mg_text name,
                         const DLTensor *constant)
{
    (void)module, (void)function, (void)index, (void)name, (void)constant;
    return kTvmErrorExecutorModuleNoSuchInput;
}

tvm_crt_error_t toy_run(void *module, uint32_t function, const mg_module_call *call)
{
    const float *const from = call->args[0].data;
    float *const to = call->args[1].data;
    uint32_t i;

    (void)function;
    for (i = 0U; i < ((const toy *)module)->limit; i++) {
        to[i] = from[i] > 0.0F ? from[i] : 0.0F;
    }
    return kTvmErrorNoError;
}
"""


class Toy(ExternalCodegen):
    """A code generator that takes only nn.relu."""

    name = "toy"
    support = Support("toy", {"nn.relu": lambda _: None})

    def compile(
        self, functions: Sequence[ExternalFunction], board: Board
    ) -> Sequence[LoadedModule]:
        """One module for each function."""
        pool_bytes = 16 if board.cpu.pointer_bytes == 4 else 24
        return [
            LoadedModule(
                runtime=Runtime("toy", "toy", "toy.h"),
                functions=(RuntimeFunction(symbol=function.symbol, kernel="toy"),),
                payload=byte_stream.string(function.symbol)
                + byte_stream.number(function.outputs[0].type.size),
                pool_bytes=pool_bytes,
                files={"include/toy.h": HEADER, "toy.c": SOURCE},
                include_dirs=("include",),
            )
            for function in functions
        ]


CODEGEN = Toy()
