# Compiler, linker and test-library settings that every target shares, carried by the interface library weft_options.

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(WEFT_CCACHE ccache)
  mark_as_advanced(WEFT_CCACHE)
  if(WEFT_CCACHE)
    # Paths below the tree are hashed as relative ones, so that a second clone finds what the first has compiled.
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${WEFT_CCACHE})
  endif()
endif()

add_library(weft_options INTERFACE)
target_include_directories(weft_options INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR})
target_compile_options(weft_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Werror
  # A designated initialiser names what it sets and leaves the rest at its default: that is its use, not a slip.
  -Wno-missing-field-initializers
  # Scores must not depend on whether a compiler fuses a multiplication with an addition.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # clang counts sign conversions to -Wconversion, g++ does not: one rule for both.
  target_compile_options(weft_options INTERFACE -Wno-sign-conversion -Wno-missing-designated-field-initializers)
  # std::stable_sort of libstdc++ 12 uses a function that the same library calls deprecated; g++ still watches our own uses.
  target_compile_options(weft_options INTERFACE -Wno-deprecated-declarations)
endif()

# x86-64-v2 brings popcnt, which the device masks live on, and is on every server of the last fifteen years.
if(NOT WEFT_MARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  target_compile_options(weft_options INTERFACE -march=x86-64-v2)
elseif(WEFT_MARCH)
  target_compile_options(weft_options INTERFACE -march=${WEFT_MARCH})
endif()

if(WEFT_DCHECKS)
  target_compile_definitions(weft_options INTERFACE WEFT_DEBUG_CHECKS=1 _GLIBCXX_ASSERTIONS=1)
endif()

if(WEFT_SANITIZE)
  set(sanitize -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(weft_options INTERFACE ${sanitize})
  target_link_options(weft_options INTERFACE ${sanitize})
endif()

# mold or lld when the compiler can link with them; the distribution's own linker otherwise.
include(CheckCXXSourceCompiles)
foreach(linker mold lld)
  set(CMAKE_REQUIRED_LINK_OPTIONS -fuse-ld=${linker})
  check_cxx_source_compiles("int main() {}" WEFT_LINKS_WITH_${linker})
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(WEFT_LINKS_WITH_${linker})
    target_link_options(weft_options INTERFACE -fuse-ld=${linker})
    break()
  endif()
endforeach()

set(WEFT_HAS_TESTS OFF)
if(NOT WEFT_TESTS STREQUAL "OFF")
  if(WEFT_TESTS STREQUAL "ON")
    find_package(GTest REQUIRED)
    find_package(rapidcheck REQUIRED)
  else()
    find_package(GTest QUIET)
    find_package(rapidcheck QUIET)
  endif()
  if(GTest_FOUND AND rapidcheck_FOUND)
    set(WEFT_HAS_TESTS ON)
    include(GoogleTest)
  endif()
endif()

set(WEFT_HAS_BENCH OFF)
if(NOT WEFT_BENCH STREQUAL "OFF")
  if(WEFT_BENCH STREQUAL "ON")
    find_package(benchmark REQUIRED)
  else()
    find_package(benchmark QUIET)
  endif()
  set(WEFT_HAS_BENCH ${benchmark_FOUND})
endif()
