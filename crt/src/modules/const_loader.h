/* SPDX-License-Identifier: Apache-2.0 */
/* The payload of a const loader: arrays by name, then symbols and which constants each is
 * initialised with. Each list follows its count of 8 bytes:
 *
 *     names, arrays (param_file.h), symbols, for each symbol a list of names
 *
 * A firmware has its constants elsewhere, so that they are aligned: a writer for it leaves names
 * and arrays out. Those that are there are checked, and never used. */
#ifndef MICROGEN_CONST_LOADER_H
#define MICROGEN_CONST_LOADER_H

#include "modules/module_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a payload, which ends the stream where it is malformed. `lists` begins with the symbols. */
void mg_const_loader_read(mg_stream *stream, mg_stream *lists);

/* How many constants the symbol has, 0 if it is not listed; `names` begins with them. Of two lists
 * for one symbol it is the last, as in TVM. */
uint32_t mg_const_loader_find(const mg_stream *lists, mg_text symbol, mg_stream *names);

#ifdef __cplusplus
}
#endif

#endif
