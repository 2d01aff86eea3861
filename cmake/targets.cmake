# One way to make a library, a test and a program; so every target gets the same warnings and the same precompiled header.

add_library(capi_options INTERFACE)
target_compile_options(capi_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers
  -fno-omit-frame-pointer -ffunction-sections -fdata-sections)
target_include_directories(capi_options INTERFACE ${CMAKE_SOURCE_DIR})
target_link_options(capi_options INTERFACE -Wl,--gc-sections -Wl,--as-needed)
find_program(CAPI_LLD NAMES ld.lld ld.lld-14)
if(CAPI_LLD AND NOT CMAKE_CROSSCOMPILING)  # a cross-compiler has its own alone
  target_link_options(capi_options INTERFACE -fuse-ld=lld)  # a third of the time of the default linker
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(capi_options INTERFACE -Wthread-safety -Werror=thread-safety)
endif()
if(CAPI_SANITIZE)
  target_compile_options(capi_options INTERFACE -fsanitize=${CAPI_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(capi_options INTERFACE -fsanitize=${CAPI_SANITIZE})
endif()

# What people run is what is tested: the release build has the tests too. They run once, so nothing is gained by optimising
# them, and a third of their time is lost.
add_library(capi_test_options INTERFACE)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(capi_test_options INTERFACE -O0)
endif()

# The JSON library is most of what a file costs to compile; it is compiled once. pch_test has GoogleTest too, where it is.
file(WRITE ${CMAKE_BINARY_DIR}/pch.cc "")
add_library(capi_pch STATIC ${CMAKE_BINARY_DIR}/pch.cc)
target_link_libraries(capi_pch PRIVATE capi_options)
target_precompile_headers(capi_pch PRIVATE <nlohmann/json.hpp> <functional> <map> <memory> <optional> <string> <variant> <vector>)
add_library(capi_pch_test STATIC ${CMAKE_BINARY_DIR}/pch.cc)
target_link_libraries(capi_pch_test PRIVATE capi_options capi_test_options GTest::gtest GTest::gmock)
target_precompile_headers(capi_pch_test PRIVATE <nlohmann/json.hpp> <functional> <map> <memory> <optional> <string>
  <variant> <vector> ${CAPI_GTEST_HEADERS})

# capi_library(NAME SOURCES a.cc b.cc USES base fmt::fmt [PRIVATE_USES ...])
function(capi_library NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;PRIVATE_USES" ${ARGN})
  add_library(${NAME} STATIC ${ARG_SOURCES})
  target_link_libraries(${NAME} PUBLIC capi_options ${ARG_USES} PRIVATE ${ARG_PRIVATE_USES})
  target_precompile_headers(${NAME} REUSE_FROM capi_pch)
endfunction()

# All unit tests, and nothing that only other tests need.
add_custom_target(unit_tests)

# capi_test(NAME SOURCES a_test.cc USES base [TIMEOUT seconds] [LABELS cluster]): one GoogleTest program, one ctest. Labels
# (docs/testing.md): "unit" unless said otherwise; "cluster" starts a control plane; "oracle" and "program" need other programs;
# "full" and "long" say that it isn't in `make test`.
function(capi_test NAME)
  if(NOT NAME MATCHES "_test$")  # so tools/check.d/summary.py knows who writes a report
    message(FATAL_ERROR "capi_test(${NAME}): the name of a GoogleTest program ends with _test")
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;USES;LABELS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE capi_options capi_test_options ${ARG_USES} GTest::gtest GTest::gmock capi_test_main)
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
  capi_test_entry(${NAME} ${NAME} "${ARG_TIMEOUT}" "${ARG_LABELS}" "" "")
  if("unit" IN_LIST ARG_LABELS)
    add_dependencies(unit_tests ${NAME})
  endif()
endfunction()

# capi_test_run(PROGRAM NAME LABELS full [FILTER a.*:b.*] [ENVIRONMENT A=1] [TIMEOUT seconds]): the ctest "PROGRAM.NAME", the
# same program in another way.
function(capi_test_run PROGRAM NAME)
  cmake_parse_arguments(ARG "" "TIMEOUT;FILTER" "LABELS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  capi_test_entry(${PROGRAM}.${NAME} ${PROGRAM} "${ARG_TIMEOUT}" "${ARG_LABELS}" "${ARG_FILTER}" "${ARG_ENVIRONMENT}")
endfunction()

# One ctest. Its report lies in the folder that tools/test reads. A program all of whose tests were skipped ends with 77
# (base/testing/main.cc).
function(capi_test_entry NAME PROGRAM TIMEOUT LABELS FILTER ENVIRONMENT)
  set(arguments --gtest_brief=1)
  if(FILTER)
    list(APPEND arguments --gtest_filter=${FILTER})
  endif()
  add_test(NAME ${NAME} COMMAND ${PROGRAM} ${arguments} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  list(APPEND ENVIRONMENT "GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/test-results/${NAME}.xml")
  set_tests_properties(${NAME} PROPERTIES TIMEOUT ${TIMEOUT} LABELS "${LABELS}" ENVIRONMENT "${ENVIRONMENT}"
    SKIP_RETURN_CODE 77)
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
