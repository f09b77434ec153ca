# Tests configure hundreds of projects. By default CMake checks the compiler anew for each, which takes
# longer than compiling most of them. tests/tools.py has checked that the compilers work.
set(CMAKE_C_COMPILER_FORCED TRUE)
