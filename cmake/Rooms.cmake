# taut_room([PLAIN] [CALLS] [PROGRAM] [FOREIGN_THREADS] [WAITS] [XXHASH] [TEST_FILTER f] [LIBRARIES lib...]
#           [TEST_LIBRARIES lib...] [THREADED test...] [MAINS file...])
#
# A room is a folder src/GROUP/ROOM: foo.cc goes into the library taut_ROOM, foo_test.cc into the binary ROOM_tests (ctest's
# ROOM.all), foo_bench.cc into ROOM_bench. src/LAYERS lists the rooms and which others each includes; the links follow from it.
# LIBRARIES, TEST_LIBRARIES: libraries from outside. XXHASH: its sources include xxhash.h.
# PLAIN: it reads, prints, serves or connects and does not run long: compiled without optimisation where a sanitizer is on.
# CALLS: likewise, and with -O1 in a release. PROGRAM: without optimisation where a sanitizer is on, and no fuzzer links it.
# FOREIGN_THREADS: its tests run threads of libraries that ThreadSanitizer cannot see into (gRPC), whose locks it would not
# know. WAITS: its tests wait more than they compute. TEST_FILTER: of its tests, those that ctest runs here and not on a
# machine of their own. THREADED: those of its tests that run threads, as names of their files without _test.cc:
# ThreadSanitizer's build has no others of this room (default: all). MAINS: sources with a main(), which are not in the library.

# The list of rooms: properties taut_rooms, and of each taut_group_ROOM, taut_uses_ROOM and taut_test_uses_ROOM.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/LAYERS)
function(taut_read_rooms)
  file(STRINGS ${CMAKE_SOURCE_DIR}/src/LAYERS lines REGEX "^[a-z[]")
  foreach(line IN LISTS lines)
    if(line MATCHES "^([a-z_]+)[*]?:([^|#]*)[|]?([^#]*)")
      set(room ${CMAKE_MATCH_1})
      set(after_bar "${CMAKE_MATCH_3}")  # the next search overwrites it
      string(REGEX MATCHALL "[a-z_]+" uses "${CMAKE_MATCH_2}")
      string(REGEX MATCHALL "[a-z_]+" test_uses "${after_bar}")
      list(TRANSFORM uses PREPEND taut_)
      list(TRANSFORM test_uses PREPEND taut_)
      set_property(GLOBAL APPEND PROPERTY taut_rooms ${room})
      set_property(GLOBAL PROPERTY taut_group_${room} ${group})
      set_property(GLOBAL PROPERTY taut_uses_${room} ${uses})
      set_property(GLOBAL PROPERTY taut_test_uses_${room} ${test_uses})
    else()
      string(REGEX MATCH "[a-z]+" group "${line}")
    endif()
  endforeach()
endfunction()
taut_read_rooms()

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

# taut_compiled(TARGET [PLAIN] [CALLS] [PROGRAM]): the options and the precompiled header for the sources of a room.
function(taut_compiled target)
  cmake_parse_arguments(ROOM "PLAIN;CALLS;PROGRAM" "" "" ${ARGN})
  set(options "")
  set(pch taut_pch)
  set(linked_by_fuzzers taut_fuzzed)
  if(NOT TAUT_SANITIZE)
    if(ROOM_CALLS)
      set(options -O1)
      set(pch taut_calling_pch)
    endif()
  elseif(ROOM_PROGRAM)
    set(options -O0)
    set(pch taut_program_pch)
    set(linked_by_fuzzers "")
  elseif(ROOM_PLAIN)
    set(options -O0)
    set(pch taut_plain_pch)
  endif()
  target_compile_options(${target} PRIVATE ${options})
  target_link_libraries(${target} PRIVATE taut_flags ${linked_by_fuzzers})
  target_precompile_headers(${target} REUSE_FROM ${pch})
endfunction()

# Compiling takes most of the time of a cold build, and headers' templates most of that: tests are compiled in groups of
# up to 32 files, and with TAUT_UNITY the rooms' sources too (all presets but debug and tidy). So a name of an unnamed
# namespace is the only one of its kind in its room, and what two files of a room both need stands in a header.
option(TAUT_UNITY "Compile a room's sources in groups, not file by file" OFF)
set(group_size 32)

# taut_grouped(TARGET SOURCE...): compiles these of its sources in groups of about equal size.
function(taut_grouped target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  list(LENGTH ARGN count)
  math(EXPR groups "(${count} + ${group_size} - 1) / ${group_size}")
  set(i 0)
  foreach(source ${ARGN})
    math(EXPR group "${i} * ${groups} / ${count}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    math(EXPR i "${i} + 1")
  endforeach()
endfunction()

# xxHash is used header-only (XXH_INLINE_ALL); its package puts the header on the default path.
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
function(taut_xxhash target)
  if(NOT XXHASH_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    target_include_directories(${target} SYSTEM PRIVATE ${XXHASH_INCLUDE_DIR})
  endif()
endfunction()

add_custom_target(benchmarks)
function(taut_room)
  cmake_parse_arguments(ROOM "PLAIN;CALLS;PROGRAM;FOREIGN_THREADS;WAITS;XXHASH" "TEST_FILTER" "LIBRARIES;TEST_LIBRARIES;THREADED;MAINS"
                        ${ARGN})
  get_filename_component(name ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  get_property(uses GLOBAL PROPERTY taut_uses_${name})
  get_property(test_uses GLOBAL PROPERTY taut_test_uses_${name})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  foreach(main IN LISTS ROOM_MAINS)
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${main})
  endforeach()
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(ROOM_THREADED AND TAUT_SANITIZE MATCHES "thread")
    list(JOIN ROOM_THREADED "|" threaded)
    list(FILTER tests INCLUDE REGEX "/(${threaded})_test\\.cc$")
  endif()
  set(benches ${all})
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")

  if(sources)
    add_library(taut_${name} STATIC ${sources})
    target_include_directories(taut_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(taut_${name} PUBLIC ${uses} ${ROOM_LIBRARIES})
    set(kinds)
    foreach(kind PLAIN CALLS PROGRAM)
      if(ROOM_${kind})
        list(APPEND kinds ${kind})
      endif()
    endforeach()
    taut_compiled(taut_${name} ${kinds})
    if(TAUT_UNITY)
      taut_grouped(taut_${name} ${sources})
    endif()
  else()
    add_library(taut_${name} INTERFACE)
    target_include_directories(taut_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(taut_${name} INTERFACE ${uses} ${ROOM_LIBRARIES})
  endif()
  if(NOT ROOM_PROGRAM)
    set_property(GLOBAL APPEND PROPERTY taut_fuzzed_libraries taut_${name})
  endif()
  if(tests)
    add_executable(${name}_tests ${tests})
    target_link_libraries(${name}_tests PRIVATE taut_${name} ${test_uses} ${ROOM_TEST_LIBRARIES} taut_flags rapidcheck
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
  if(ROOM_XXHASH)
    taut_xxhash(taut_${name})
    if(tests)
      taut_xxhash(${name}_tests)
    endif()
  endif()
  if(benches AND NOT TAUT_SANITIZE)
    # Not part of `all`: ./dev bench builds them.
    add_executable(${name}_bench EXCLUDE_FROM_ALL ${benches})
    add_dependencies(benchmarks ${name}_bench)
    target_link_libraries(${name}_bench PRIVATE taut_${name} ${test_uses} ${ROOM_TEST_LIBRARIES} taut_flags
                                                benchmark::benchmark benchmark::benchmark_main)
  endif()
endfunction()
