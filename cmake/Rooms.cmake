# taut_room(NAME [FOREIGN_THREADS] [TEST_FILTER f] [DEPS lib...] [TEST_DEPS lib...])
#
# A room is a folder of src/: foo.cc goes into the library taut_NAME, foo_test.cc into the binary
# NAME_tests (found by ctest), foo_bench.cc into NAME_bench. Which rooms may include which is written in
# src/LAYERS and checked by tools/check_layers.py. FOREIGN_THREADS: its tests run threads of libraries that
# ThreadSanitizer cannot see into (gRPC), whose locks it would not know. TEST_FILTER: of its tests, those that ctest
# runs here and not on a machine of their own.
function(taut_room name)
  cmake_parse_arguments(ROOM "FOREIGN_THREADS" "TEST_FILTER" "DEPS;TEST_DEPS" ${ARGN})
  file(GLOB all CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(benches ${all})
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")

  if(sources)
    add_library(taut_${name} STATIC ${sources})
    target_include_directories(taut_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(taut_${name} PUBLIC ${ROOM_DEPS} PRIVATE taut_flags)
  else()
    add_library(taut_${name} INTERFACE)
    target_include_directories(taut_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(taut_${name} INTERFACE ${ROOM_DEPS})
  endif()
  if(tests AND NOT TAUT_FUZZ)
    add_executable(${name}_tests ${tests})
    target_link_libraries(${name}_tests PRIVATE taut_${name} ${ROOM_TEST_DEPS} taut_flags rapidcheck
                                                GTest::gmock GTest::gtest_main)
    set(filter)
    if(ROOM_TEST_FILTER)
      set(filter TEST_FILTER ${ROOM_TEST_FILTER})
    endif()
    set(properties)
    if(ROOM_FOREIGN_THREADS AND TAUT_SANITIZE MATCHES "thread")
      set(properties PROPERTIES ENVIRONMENT_MODIFICATION
                     "TSAN_OPTIONS=string_append: ignore_noninstrumented_modules=1")
    endif()
    gtest_discover_tests(${name}_tests TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60
                         WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} ${filter} ${properties})
  endif()
  if(benches AND NOT TAUT_FUZZ AND NOT TAUT_SANITIZE)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE taut_${name} ${ROOM_TEST_DEPS} taut_flags
                                                benchmark::benchmark benchmark::benchmark_main)
  endif()
endfunction()
