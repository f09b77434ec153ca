/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of TVM's C runtime, with the names and, except where a comment says otherwise, the
 * defaults of TVM v0.14. An application may have a crt_config.h of its own in an earlier folder of
 * the compiler's include path, or define a macro on the command line. All files of one program must
 * see the same values. */
#ifndef TVM_RUNTIME_CRT_CRT_CONFIG_H_
#define TVM_RUNTIME_CRT_CRT_CONFIG_H_

/* The least important messages that logging.h's macros pass to TVMLogf. */
#ifndef TVM_CRT_LOG_LEVEL
#define TVM_CRT_LOG_LEVEL TVM_CRT_LOG_LEVEL_DEBUG
#endif

#ifndef TVM_CRT_DEBUG
#define TVM_CRT_DEBUG 0
#endif

/* The greatest number of dimensions of a tensor. Nothing in this runtime depends on it. */
#ifndef TVM_CRT_MAX_NDIM
#define TVM_CRT_MAX_NDIM 6
#endif

/* The greatest number of arguments in a TVMArgs. Nothing else depends on it. */
#ifndef TVM_CRT_MAX_ARGS
#define TVM_CRT_MAX_ARGS 10
#endif

/* The greatest number of registered modules. TVM's default is 2. */
#ifndef TVM_CRT_MAX_REGISTERED_MODULES
#define TVM_CRT_MAX_REGISTERED_MODULES 4
#endif

/* Buffer sizes, in bytes, for applications. This runtime has no such buffers. */
#ifndef TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES
#define TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES 512
#endif
#ifndef TVM_CRT_MAX_PACKET_SIZE_BYTES
#define TVM_CRT_MAX_PACKET_SIZE_BYTES 2048
#endif
#ifndef TVM_CRT_MAX_STRLEN_DLTYPE
#define TVM_CRT_MAX_STRLEN_DLTYPE 10
#endif
#ifndef TVM_CRT_MAX_STRLEN_FUNCTION_NAME
#define TVM_CRT_MAX_STRLEN_FUNCTION_NAME 120
#endif
#ifndef TVM_CRT_MAX_STRLEN_PARAM_NAME
#define TVM_CRT_MAX_STRLEN_PARAM_NAME 80
#endif

#endif
