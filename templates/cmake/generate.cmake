# SPDX-License-Identifier: Apache-2.0
# A step of a build: makes PROJECT from MODEL with MICROGEN, for BOARD, with NAME and OPTIONS (separated
# by |), and writes LISTS, which names the sources. If all that is as it was, it does nothing.
execute_process(COMMAND ${MICROGEN} --version OUTPUT_VARIABLE wanted COMMAND_ERROR_IS_FATAL ANY)
foreach(file ${MODEL} ${BOARD} ${BOARD}/board.yml)
  if(EXISTS ${file} AND NOT IS_DIRECTORY ${file})
    file(SHA256 ${file} digest)
    string(APPEND wanted "${file} ${digest}\n")
  endif()
endforeach()
string(APPEND wanted "${BOARD} ${NAME} ${OPTIONS}\n")
set(known ${PROJECT}.made)
if(EXISTS ${LISTS} AND EXISTS ${known} AND EXISTS ${PROJECT}/microgen.json)
  file(READ ${known} made)
  if("${made}" STREQUAL "${wanted}")
    return()
  endif()
endif()

file(REMOVE ${known})
string(REPLACE "|" ";" OPTIONS "${OPTIONS}")
execute_process(
  COMMAND ${MICROGEN} generate ${MODEL} -b ${BOARD} -o ${PROJECT} --name ${NAME} --force --quiet ${OPTIONS}
  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
string(STRIP "${said}" said)
if(failed)
  message(FATAL_ERROR " ${said}") # with a space in front, CMake does not break the line
elseif(said)
  message(NOTICE "${said}")
endif()

# The lists of the project's model/CMakeLists.txt, with places that are known here.
file(READ ${PROJECT}/model/CMakeLists.txt text)
set(content "# Made by a step of the build.\n")
foreach(list MODEL_SOURCES RUNTIME_SOURCES CODEGEN_SOURCES PUBLIC_INCLUDES PRIVATE_INCLUDES CODEGEN_INCLUDES)
  if(NOT text MATCHES "set\\(${list}\n[^)]*\\)")
    message(FATAL_ERROR " ${PROJECT}/model/CMakeLists.txt has no list ${list}")
  endif()
  string(APPEND content "${CMAKE_MATCH_0}\n")
endforeach()
string(REGEX MATCHALL "-Wl,--undefined=[A-Za-z0-9_]+" kept "${text}")
string(APPEND content "set(KEPT ${kept})\n")
string(REPLACE "\${MODEL}" "${PROJECT}/model" content "${content}")
string(REPLACE "\${CRT}" "${PROJECT}/crt" content "${content}")
string(REPLACE "\${CODEGENS}" "${PROJECT}/codegens" content "${content}")
set(before "")
if(EXISTS ${LISTS})
  file(READ ${LISTS} before)
endif()
# Only if it is different, because a change of this file starts CMake again.
if(NOT "${content}" STREQUAL "${before}")
  file(WRITE ${LISTS} "${content}")
endif()
file(WRITE ${known} "${wanted}")
