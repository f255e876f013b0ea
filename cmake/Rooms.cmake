# taut_room(NAME [FOREIGN_THREADS] [WAITS] [TEST_FILTER f] [DEPS lib...] [TEST_DEPS lib...] [THREADED test...])
#
# A room is a folder of src/: foo.cc goes into the library taut_NAME, foo_test.cc into the binary
# NAME_tests (ctest's NAME.all), foo_bench.cc into NAME_bench. Which rooms may include which is written in
# src/LAYERS and checked by tools/check_layers.py. FOREIGN_THREADS: its tests run threads of libraries that
# ThreadSanitizer cannot see into (gRPC), whose locks it would not know. WAITS: its tests wait more than they compute.
# TEST_FILTER: of its tests, those that ctest runs here and not on a machine of their own. THREADED: those of its tests
# that run threads, as names of their files without _test.cc: ThreadSanitizer's build has no others of this room
# (default: all).
# Precompiled headers for all rooms: parsing these takes most of the time of compiling a small file.
file(WRITE ${CMAKE_BINARY_DIR}/pch/empty.cc "")
function(taut_precompiled name)
  cmake_parse_arguments(PCH "" "" "HEADERS;OPTIONS;DEPS" ${ARGN})
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/pch/empty.cc)
  target_link_libraries(${name} PRIVATE absl::status absl::statusor absl::flat_hash_map absl::time fmt::fmt taut_flags
                                        ${PCH_DEPS})
  target_compile_options(${name} PRIVATE ${PCH_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${PCH_HEADERS})
endfunction()
set(pch_headers <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <mutex>
                <optional> <set> <shared_mutex> <span> <string> <string_view> <tuple> <utility> <variant> <vector>
                <absl/container/flat_hash_map.h> <absl/functional/function_ref.h> <absl/status/status.h>
                <absl/status/statusor.h> <fmt/format.h>)
taut_precompiled(taut_pch HEADERS ${pch_headers} DEPS taut_fuzzed)
# Tests run for moments, but their macros expand to much code: optimising it takes half of clang's time with sanitizers,
# lines for a debugger a twelfth. (ThreadSanitizer's suppressions name source files.)
set(test_options -O0)
if(TAUT_SANITIZE MATCHES "address")
  list(APPEND test_options -g0)
endif()
taut_precompiled(taut_test_pch HEADERS ${pch_headers} <gmock/gmock.h> <gtest/gtest.h> <rapidcheck.h>
                                       <rapidcheck/gtest.h>
                 OPTIONS ${test_options} DEPS rapidcheck GTest::gmock GTest::gtest)
# Rooms (and the folder programs) that read options, call and print.
set(calling_rooms actuate backfill capacity cli config docker kubernetes machines oidc programs report)
# With a sanitizer, generating code takes most of the time, and the rooms that read, print, serve or connect do not run
# long: they are compiled without optimisation too.
set(plain_rooms actuate agent analysis backfill cgroup config docker economy json kubernetes load net node oidc parquet
                quota replicas wire)
# Rooms that no fuzzer links.
set(program_rooms api capacity cli machines programs report)
# A precompiled header for each set of options: where another header changes the target for a few functions and back, g++
# goes on with the optimisation of the precompiled header, whatever its command line says.
if(TAUT_SANITIZE)
  taut_precompiled(taut_plain_pch HEADERS ${pch_headers} OPTIONS -O0 DEPS taut_fuzzed)
  if(TAUT_FUZZ)
    taut_precompiled(taut_program_pch HEADERS ${pch_headers} OPTIONS -O0)
  else()
    add_library(taut_program_pch ALIAS taut_plain_pch)
  endif()
else()
  taut_precompiled(taut_calling_pch HEADERS ${pch_headers} OPTIONS -O1)
endif()

# taut_compiled(TARGET ROOM): the options and the precompiled header for the sources of this room.
function(taut_compiled target room)
  set(options "")
  set(pch taut_pch)
  set(linked_by_fuzzers taut_fuzzed)
  if(NOT TAUT_SANITIZE)
    if(room IN_LIST calling_rooms)
      set(options -O1)
      set(pch taut_calling_pch)
    endif()
  elseif(room IN_LIST program_rooms)
    set(options -O0)
    set(pch taut_program_pch)
    set(linked_by_fuzzers "")
  elseif(room IN_LIST plain_rooms)
    set(options -O0)
    set(pch taut_plain_pch)
  endif()
  target_compile_options(${target} PRIVATE ${options})
  target_link_libraries(${target} PRIVATE taut_flags ${linked_by_fuzzers})
  target_precompile_headers(${target} REUSE_FROM ${pch})
endfunction()

# Compiling takes most of the time of a cold build, and headers' templates most of that: tests are compiled in groups of
# up to 32 files, and with TAUT_UNITY the rooms' sources too (all presets but debug and tidy). Files whose private
# names collide with those of a neighbour form a group of their own: those in grouped_apart.txt.
option(TAUT_UNITY "Compile a room's sources in groups, not file by file" OFF)
set(group_size 32)
set(apart_list ${CMAKE_CURRENT_LIST_DIR}/grouped_apart.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${apart_list})
file(STRINGS ${apart_list} grouped_apart REGEX "^[^#]")
list(TRANSFORM grouped_apart PREPEND ${CMAKE_SOURCE_DIR}/src/)

# taut_grouped(TARGET SOURCE...): compiles these of its sources in groups of about equal size. Only absolute paths are
# looked up in grouped_apart.txt.
function(taut_grouped target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(together)
  foreach(source ${ARGN})
    if(source IN_LIST grouped_apart)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP apart)
    else()
      list(APPEND together ${source})
    endif()
  endforeach()
  list(LENGTH together count)
  math(EXPR groups "(${count} + ${group_size} - 1) / ${group_size}")
  set(i 0)
  foreach(source ${together})
    math(EXPR group "${i} * ${groups} / ${count}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    math(EXPR i "${i} + 1")
  endforeach()
endfunction()

add_custom_target(benchmarks)
function(taut_room name)
  cmake_parse_arguments(ROOM "FOREIGN_THREADS;WAITS" "TEST_FILTER" "DEPS;TEST_DEPS;THREADED" ${ARGN})
  file(GLOB all CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(ROOM_THREADED AND TAUT_SANITIZE MATCHES "thread")
    list(TRANSFORM ROOM_THREADED REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1_test.cc" OUTPUT_VARIABLE tests)
  endif()
  set(benches ${all})
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")

  if(sources)
    add_library(taut_${name} STATIC ${sources})
    target_include_directories(taut_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(taut_${name} PUBLIC ${ROOM_DEPS})
    taut_compiled(taut_${name} ${name})
    if(TAUT_UNITY)
      taut_grouped(taut_${name} ${sources})
    endif()
  else()
    add_library(taut_${name} INTERFACE)
    target_include_directories(taut_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(taut_${name} INTERFACE ${ROOM_DEPS})
  endif()
  if(tests)
    add_executable(${name}_tests ${tests})
    target_link_libraries(${name}_tests PRIVATE taut_${name} ${ROOM_TEST_DEPS} taut_flags rapidcheck
                                                GTest::gmock GTest::gtest_main)
    target_compile_options(${name}_tests PRIVATE ${test_options})
    target_precompile_headers(${name}_tests REUSE_FROM taut_test_pch)
    taut_grouped(${name}_tests ${tests})
    # One process for all tests of a room: to start one takes 10 ms, with a sanitizer 40, and there are three thousand tests.
    set(filter)
    if(ROOM_TEST_FILTER)
      set(filter --gtest_filter=${ROOM_TEST_FILTER})
    endif()
    set(slots 2)  # of two for each processor: see tests/CMakeLists.txt
    if(ROOM_WAITS)
      set(slots 1)
    endif()
    add_test(NAME ${name}.all COMMAND ${name}_tests --gtest_brief=1 ${filter} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name}.all PROPERTIES PROCESSORS ${slots} COST 50)
    if(ROOM_FOREIGN_THREADS AND TAUT_SANITIZE MATCHES "thread")
      set_tests_properties(${name}.all PROPERTIES ENVIRONMENT_MODIFICATION
                                                  "TSAN_OPTIONS=string_append::ignore_noninstrumented_modules=1")
    endif()
  endif()
  if(benches AND NOT TAUT_SANITIZE)
    # Not part of `all`: ./dev bench builds them.
    add_executable(${name}_bench EXCLUDE_FROM_ALL ${benches})
    add_dependencies(benchmarks ${name}_bench)
    target_link_libraries(${name}_bench PRIVATE taut_${name} ${ROOM_TEST_DEPS} taut_flags
                                                benchmark::benchmark benchmark::benchmark_main)
  endif()
endfunction()
