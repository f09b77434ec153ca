/* The loaders of a firmware whose modules are ExampleJSON. */
#include "examplejson/runtime_examplejson.h"

const uint32_t mg_loader_count = 1U;
const char *const mg_loader_names[] = {"runtime.module.loadbinary_examplejson"};
const mg_loader_load mg_loader_loads[] = {mg_examplejson_load};
const mg_loader_find mg_loader_finds[] = {mg_examplejson_find};
const mg_loader_init mg_loader_inits[] = {mg_examplejson_init};
const mg_loader_run mg_loader_runs[] = {mg_examplejson_run};
