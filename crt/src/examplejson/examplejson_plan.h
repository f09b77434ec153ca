/* SPDX-License-Identifier: Apache-2.0 */
/* Places the values of an ExampleJSON function that are neither inputs nor outputs. */
#ifndef MICROGEN_EXAMPLEJSON_PLAN_H
#define MICROGEN_EXAMPLEJSON_PLAN_H

#include "examplejson/examplejson_graph.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Assigns a place in the workspace to each value, and sets the size of the workspace. A value takes
 * the place of the first value of the same size that is not read any more. If there is none, it
 * comes after all others. Returns false if the workspace would need more than INT32_MAX bytes. */
bool mg_examplejson_plan(mg_examplejson_function *function);

#ifdef __cplusplus
}
#endif

#endif
