# Compiler flags, ccache and mold: one place for what every target gets.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # BASEDIR, NOHASHDIR: clones in other folders share one cache. SLOPPINESS: without it nothing that uses a precompiled
  # header is cached. DEPEND: the compiler's list of headers takes the place of a run of the preprocessor.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  add_link_options(-fuse-ld=mold)
endif()

add_library(taut_flags INTERFACE)
target_compile_options(taut_flags INTERFACE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
                                            -Werror)
# In a group of files, a name may hide that of another file, and g++ takes the unnamed namespace of a file for one of a
# header.
set(in_groups "$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>")
target_compile_options(taut_flags INTERFACE $<$<NOT:${in_groups}>:-Wshadow>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(taut_flags INTERFACE $<${in_groups}:-Wno-subobject-linkage>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 warns of overlaps and overflows inside std::string where there are none (GCC bugs 105329, 105651).
  target_compile_options(taut_flags INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
endif()
# No contraction into FMA: the same input gives the same bytes under g++ and clang.
add_compile_options(-ffp-contract=off)
if(NOT TAUT_SANITIZE)
  # The Python module is a shared library of the same objects. Without interposition of symbols this costs nothing.
  add_compile_options(-fPIC -fno-semantic-interposition)
endif()
if(TAUT_MARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-march=${TAUT_MARCH})
endif()
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  # Lines for a debugger or profiler cost a tenth of the build: -DTAUT_DEBUG_INFO=-g1 has them.
  set(TAUT_DEBUG_INFO "-g0" CACHE STRING "debug information of a release build")
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O3 ${TAUT_DEBUG_INFO} -DNDEBUG")
endif()
# GCC: so that ccache sees through a precompiled header, and without its collection of garbage, which takes 10 to 15 % of the
# time and saves 0.4 GiB (of 1.7).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess "SHELL:--param ggc-min-heapsize=1500000" "SHELL:--param ggc-min-expand=100")
else()
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
if(TAUT_SANITIZE)
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
  add_compile_options(-fsanitize=${TAUT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TAUT_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ warns falsely in what a sanitizer changed; release has the warning.
    target_compile_options(taut_flags INTERFACE -Wno-maybe-uninitialized)
  elseif(TAUT_SANITIZE MATCHES "undefined")
    # Checks before each access or addition to a pointer, of what AddressSanitizer finds at the access, and of alignment,
    # which x86 does without. The last three take a quarter of the time of compiling.
    add_compile_options(-fno-sanitize=null,object-size,vptr,pointer-overflow,alignment)
  endif()
endif()
if(TAUT_THIRD_RESOURCE)
  add_compile_definitions(TAUT_THIRD_RESOURCE)
endif()
# For what fuzzers link: libFuzzer sees which branches an input takes. Tests and programs are compiled without, which
# saves a quarter of their time.
add_library(taut_fuzzed INTERFACE)
if(TAUT_FUZZ)
  target_compile_options(taut_fuzzed INTERFACE -fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
