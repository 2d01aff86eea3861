# One way to make a library, a test and a program; so every target gets the same warnings and the same precompiled header.

add_library(capi_options INTERFACE)
target_compile_options(capi_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers
  -fno-omit-frame-pointer -ffunction-sections -fdata-sections)
target_include_directories(capi_options INTERFACE ${CMAKE_SOURCE_DIR})
target_link_options(capi_options INTERFACE -Wl,--gc-sections -Wl,--as-needed)
find_program(CAPI_LLD NAMES ld.lld ld.lld-14)
if(CAPI_LLD)
  target_link_options(capi_options INTERFACE -fuse-ld=lld)  # a third of the time of the default linker
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(capi_options INTERFACE -Wthread-safety -Werror=thread-safety)
endif()
if(CAPI_SANITIZE)
  target_compile_options(capi_options INTERFACE -fsanitize=${CAPI_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(capi_options INTERFACE -fsanitize=${CAPI_SANITIZE})
endif()

# The JSON library is most of what a file costs to compile; it is compiled once. pch_test has GoogleTest too.
file(WRITE ${CMAKE_BINARY_DIR}/pch.cc "")
add_library(capi_pch STATIC ${CMAKE_BINARY_DIR}/pch.cc)
target_link_libraries(capi_pch PRIVATE capi_options)
target_precompile_headers(capi_pch PRIVATE <nlohmann/json.hpp> <functional> <map> <memory> <optional> <string> <variant> <vector>)
add_library(capi_pch_test STATIC ${CMAKE_BINARY_DIR}/pch.cc)
target_link_libraries(capi_pch_test PRIVATE capi_options GTest::gtest GTest::gmock)
target_precompile_headers(capi_pch_test PRIVATE <nlohmann/json.hpp> <functional> <map> <memory> <optional> <string>
  <variant> <vector> <gtest/gtest.h> <gmock/gmock.h>)

# capi_library(NAME SOURCES a.cc b.cc USES base fmt::fmt [PRIVATE_USES ...])
function(capi_library NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;PRIVATE_USES" ${ARGN})
  add_library(${NAME} STATIC ${ARG_SOURCES})
  target_link_libraries(${NAME} PUBLIC capi_options ${ARG_USES} PRIVATE ${ARG_PRIVATE_USES})
  target_precompile_headers(${NAME} REUSE_FROM capi_pch)
endfunction()

# All unit tests, and nothing that only other tests need.
add_custom_target(unit_tests)

# capi_test(NAME SOURCES a_test.cc USES base [TIMEOUT seconds] [LABELS cluster]): one GoogleTest program, one ctest. The label
# is "unit" unless said otherwise; tests with the label "cluster" start a control plane.
function(capi_test NAME)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;USES;LABELS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE capi_options ${ARG_USES} GTest::gtest GTest::gmock GTest::gtest_main)
  target_precompile_headers(${NAME} REUSE_FROM capi_pch_test)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  # These have no threads: the thread sanitizer has nothing to find in them.
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(CAPI_SANITIZE STREQUAL "thread" AND folder MATCHES "^(api|cli|kube/meta|templating)$")
    set(ARG_LABELS without_threads)
  endif()
  add_test(NAME ${NAME} COMMAND ${NAME} --gtest_brief=1 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  if("unit" IN_LIST ARG_LABELS)
    add_dependencies(unit_tests ${NAME})
  endif()
  if("cluster" IN_LIST ARG_LABELS)
    set_tests_properties(${NAME} PROPERTIES RESOURCE_LOCK control_plane)  # one at a time, beside unit tests
  endif()
endfunction()

# capi_program(NAME SOURCES main.cc USES operator [STARTS_QUICKLY]). A program that starts quickly brings along all
# libraries but the C library's: loading Debian's shared ones costs milliseconds and megabytes before main. (lld takes a
# symbol from the first file that has it, and archives come first here; the other linker may still take shared ones.)
function(capi_program NAME)
  cmake_parse_arguments(ARG "STARTS_QUICKLY" "" "SOURCES;USES" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  if(ARG_STARTS_QUICKLY AND NOT CAPI_SANITIZE)
    target_link_libraries(${NAME} PRIVATE fmt_inside ${CAPI_ARCHIVES})
    target_link_options(${NAME} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  target_link_libraries(${NAME} PRIVATE capi_options ${ARG_USES})
  target_precompile_headers(${NAME} REUSE_FROM capi_pch)
endfunction()

# capi_fuzzer(NAME SOURCES x_fuzz.cc USES base): a libFuzzer program build/fuzz/bin/fuzz_NAME, in builds with CAPI_FUZZERS. The
# same file belongs into its folder's test too (base/fuzz.h).
add_custom_target(fuzzers)
function(capi_fuzzer NAME)
  if(NOT CAPI_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_executable(fuzz_${NAME} ${ARG_SOURCES})
  target_compile_definitions(fuzz_${NAME} PRIVATE CAPI_LIBFUZZER)
  target_link_libraries(fuzz_${NAME} PRIVATE capi_options ${ARG_USES})
  target_link_options(fuzz_${NAME} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers fuzz_${NAME})
endfunction()
