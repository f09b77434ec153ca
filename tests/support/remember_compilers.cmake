# Keeps what CMake has found out about a project's compilers, for tests/support/toolchain.cmake.
set(FOUND ${CMAKE_BINARY_DIR}/CMakeFiles/${CMAKE_VERSION})
if(EXISTS ${FOUND}/CMakeCCompiler.cmake AND EXISTS ${FOUND}/CMakeASMCompiler.cmake)
  string(RANDOM LENGTH 16 OWN)
  file(COPY ${FOUND}/CMakeCCompiler.cmake ${FOUND}/CMakeASMCompiler.cmake
    DESTINATION ${TESTS_KNOWN}.${OWN})
  # Another process may have been first.
  file(RENAME ${TESTS_KNOWN}.${OWN} ${TESTS_KNOWN} RESULT FAILED)
  if(FAILED)
    file(REMOVE_RECURSE ${TESTS_KNOWN}.${OWN})
  endif()
endif()
