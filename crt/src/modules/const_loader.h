/* SPDX-License-Identifier: Apache-2.0 */
/* The payload of a const loader: arrays and their names, then symbols and the names of the
 * constants with which each is initialised. A count of 8 bytes precedes each list:
 *
 *     names, arrays (param_file.h), symbols, for each symbol a list of names
 *
 * A firmware stores its constants elsewhere, so that they are aligned, and its blob leaves names
 * and arrays out. If a blob contains them, they are checked but never used. */
#ifndef MICROGEN_CONST_LOADER_H
#define MICROGEN_CONST_LOADER_H

#include "modules/module_stream.h"

/* Reads a payload. The stream fails if the payload is malformed. `lists` then begins with the
 * symbols. */
MG_EXTERN void mg_const_loader_read(mg_stream *stream, mg_stream *lists);

/* The number of constants of the symbol, or 0 if it is not listed. `names` then begins with their
 * names. Of two lists for one symbol the last applies, as in TVM. */
MG_EXTERN uint32_t mg_const_loader_find(const mg_stream *lists, mg_text symbol, mg_stream *names);

#endif
