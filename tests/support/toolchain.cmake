# Tests configure hundreds of projects. By default CMake examines and checks the compilers anew for each,
# which takes longer than compiling most of them. tests/support/tools.py has checked that the compilers work. What
# CMake finds out about a compiler is kept next to ccache's store, and the next projects are told.
set(CMAKE_C_COMPILER_FORCED TRUE)

# `make test-full` builds as users do. Other runs save time where the code stays what is tested:
# - With sanitizers, optimizing and copying kernels into their callers takes longer than everything else. They see
#   every access without it. In GCC's order of variables without optimization, what is in front of the first input
#   would not be guarded.
# - Only debuggers ask where variables are, and following them takes a sixth of GCC's time with -O2 -g.
if(DEFINED ENV{TESTS_BUILD_QUICKLY} AND NOT "${CMAKE_C_COMPILER} $ENV{CC}" MATCHES clang)
  add_compile_options($<$<COMPILE_LANGUAGE:C>:-fno-var-tracking>)
  if(MICROGEN_SANITIZE)
    add_compile_options("$<$<COMPILE_LANGUAGE:C>:--include=${CMAKE_CURRENT_LIST_DIR}/not_inlined.h>")
    set(MICROGEN_MODEL_OPTIMIZATION -O0 -ftoplevel-reorder)
    set(MICROGEN_RUNTIME_OPTIMIZATION -O0 -ftoplevel-reorder)
  endif()
endif()

if(CMAKE_VERSION VERSION_LESS 3.21)
  return()
endif()
if(CMAKE_C_COMPILER)
  set(TESTS_COMPILER ${CMAKE_C_COMPILER})
elseif(DEFINED ENV{CC})
  set(TESTS_COMPILER $ENV{CC})
else()
  set(TESTS_COMPILER cc)
endif()
find_program(TESTS_FOUND ${TESTS_COMPILER} NO_CACHE)
if(NOT TESTS_FOUND)
  return()
endif()
# Another compiler, or another release of it, has another folder.
file(REAL_PATH ${TESTS_FOUND} TESTS_FILE)
file(TIMESTAMP ${TESTS_FILE} TESTS_KEY)
file(SIZE ${TESTS_FILE} TESTS_SIZE)
string(APPEND TESTS_KEY " ${TESTS_SIZE} ${TESTS_FOUND} ${TESTS_FILE} ${CMAKE_C_COMPILER_TARGET} "
  "${CMAKE_SYSTEM_NAME} ${CMAKE_VERSION} $ENV{PATH}")
string(SHA256 TESTS_KEY "${TESTS_KEY}")
set(TESTS_KNOWN ${CMAKE_CURRENT_LIST_DIR}/../../.pytest_cache/cmake/${TESTS_KEY})
if(EXISTS ${TESTS_KNOWN}/CMakeCCompiler.cmake)
  include(${TESTS_KNOWN}/CMakeCCompiler.cmake)
  include(${TESTS_KNOWN}/CMakeASMCompiler.cmake)
else()
  set(CMAKE_PROJECT_INCLUDE ${CMAKE_CURRENT_LIST_DIR}/remember_compilers.cmake)
endif()
