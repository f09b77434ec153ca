/* SPDX-License-Identifier: Apache-2.0 */
/* Where the values of an ExampleJSON function lie that are neither inputs nor outputs. */
#ifndef MICROGEN_EXAMPLEJSON_PLAN_H
#define MICROGEN_EXAMPLEJSON_PLAN_H

#include "examplejson/examplejson_graph.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Gives each value a place in the workspace, and the workspace its size. A value takes the place of
 * the first value of its size that nothing reads any more; if there is none, it comes after all
 * others. False if that takes more than INT32_MAX bytes. */
bool mg_examplejson_plan(mg_examplejson_function *function);

#ifdef __cplusplus
}
#endif

#endif
