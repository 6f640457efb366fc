# Adds a module (a folder under src/) with its tests, benchmarks and fuzz entries:
#
#   profline_module(tools_nsys
#     SOURCES command.cpp kernel_csv.cpp    # omit for a header-only module
#     DEPS    process records schema        # our own modules; scripts/check_layers reads this list
#     LIBS    SQLite::SQLite3               # packages not exposed by our headers; tests link them too
#     PUBLIC_LIBS fmt::fmt                  # packages exposed by our headers
#     TESTS   command_test.cpp              # one GoogleTest program per module
#     TEST_DEPS testing                     # modules used only by tests, benchmarks and fuzzers
#     BENCHES kernel_csv_bench.cpp          # one google-benchmark program per module
#     FUZZERS kernel_csv_fuzz.cpp)          # one program each; corpus in tests/corpus/<kernel_csv>/

include(CheckCXXCompilerFlag)

add_library(profline_warnings INTERFACE)
# C++ only; targets compiled by nvcc set their own warnings.
target_compile_options(profline_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wsign-conversion;-Wold-style-cast>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Woverloaded-virtual>
  $<$<AND:$<BOOL:${PROFLINE_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>
  # False positives in GCC 12 for `"literal" + std::string` (GCC bug 105651).
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  # At -O3, GCC 12 reports moved std::variant and std::optional members as uninitialised.
  $<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-maybe-uninitialized>)

# Sanitizers must cover every target, hence a directory-wide setting instead of an interface target:
# AddressSanitizer reports false errors in a partially instrumented program.
if(PROFLINE_SANITIZE)
  add_compile_options(-fsanitize=${PROFLINE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PROFLINE_SANITIZE})
  # As GCC advises: this warning is mostly wrong in instrumented code.
  target_compile_options(profline_warnings INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(PROFLINE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# GCC starts to collect garbage at 128 MB, which takes a tenth of the compile time of our files. Few need more than this limit, so
# the compiler uses little more memory.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths are hashed relative to the tree, so that a fresh clone can reuse the objects of an older one.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

# Everything that `make install`, `make bench` and `make fuzz` need, and nothing else.
add_custom_target(programs)
add_custom_target(benches)
add_custom_target(fuzzers)

# Tests skip clang's path-sensitive analyzer, which would spend most of its time in GoogleTest's macros. All other
# checks apply.
set(PROFLINE_TEST_TIDY ${CMAKE_CXX_CLANG_TIDY})
if(PROFLINE_TEST_TIDY)
  list(APPEND PROFLINE_TEST_TIDY --checks=-clang-analyzer-*)
endif()

if(PROFLINE_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
  include(GoogleTest)
endif()

# Headers of the standard library, fmt and GoogleTest are compiled once for all modules and once for all tests; they
# dominate the compile time of most files. Sources still include what they use: the tidy preset disables this.
option(PROFLINE_PRECOMPILED_HEADERS "Compile common headers once" ON)
# Test code is not optimised; the code under test is, and that is where the time goes.
set(PROFLINE_TEST_OPTIONS "")
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  set(PROFLINE_TEST_OPTIONS -O0 -g0)
endif()

# Makes a target use the precompiled headers for modules or tests. KIND: module or test.
function(profline_precompiled target kind)
  if(NOT PROFLINE_PRECOMPILED_HEADERS)
    return()
  endif()
  set(owner profline_${kind}_headers)
  if(NOT TARGET ${owner})
    add_library(${owner} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
    target_link_libraries(${owner} PRIVATE fmt::fmt profline_warnings)
    if(kind STREQUAL "test")
      target_compile_options(${owner} PRIVATE ${PROFLINE_TEST_OPTIONS})
      target_link_libraries(${owner} PRIVATE GTest::gmock)
    endif()
    target_include_directories(${owner} PRIVATE ${PROJECT_SOURCE_DIR}/cmake)
    target_precompile_headers(${owner} PRIVATE <${kind}_headers.h>)
  endif()
  # With precompiled headers GCC no longer recognises system functions, so its false warnings in them are not suppressed.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
  # Clang reads the list of the headers again in each file, so it has to find it there too.
  target_include_directories(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:${PROJECT_SOURCE_DIR}/cmake>)
  # Targets that share the headers must use the same options; otherwise the compiler warns (-Winvalid-pch).
  target_link_libraries(${target} PRIVATE fmt::fmt)
  if(kind STREQUAL "test")
    target_compile_options(${target} PRIVATE ${PROFLINE_TEST_OPTIONS})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# Files of one target are compiled several at a time, which halves the time of a build from scratch. Names in anonymous
# namespaces must therefore be unique within a target; names that belong together have one definition, in a header.
option(PROFLINE_UNITY "Compile several files of a target at once" OFF)
# A type within a test may have the name of one in another file.
add_library(profline_no_shadow INTERFACE)
target_compile_options(profline_no_shadow INTERFACE -Wno-shadow)
function(profline_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PROFLINE_UNITY} UNITY_BUILD_BATCH_SIZE 10)
  if(PROFLINE_UNITY)
    # GCC takes a class in an included file for one that several files share; here each is included once.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    # Clang also reports a local name that another file has in its anonymous namespace.
    target_link_libraries(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:profline_no_shadow>)
  endif()
endfunction()

# CMake's compile_commands.json would list the generated files only.
if(PROFLINE_UNITY AND CMAKE_EXPORT_COMPILE_COMMANDS)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(commands ${CMAKE_BINARY_DIR}/compile_commands.json)
  add_custom_command(OUTPUT ${commands}.stamp
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/list_sources.py ${commands}
    COMMAND ${CMAKE_COMMAND} -E touch ${commands}.stamp
    DEPENDS ${commands} ${CMAKE_CURRENT_LIST_DIR}/list_sources.py
    COMMENT "Listing every source in compile_commands.json" VERBATIM)
  add_custom_target(compile_commands ALL DEPENDS ${commands}.stamp)
  add_dependencies(programs compile_commands)
endif()

function(profline_module name)
  cmake_parse_arguments(PARSE_ARGV 1 M "" ""
    "SOURCES;DEPS;LIBS;PUBLIC_LIBS;TESTS;TEST_DEPS;BENCHES;FUZZERS")
  if(M_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "profline_module(${name}): unknown arguments '${M_UNPARSED_ARGUMENTS}'")
  endif()
  list(TRANSFORM M_DEPS PREPEND profline_)
  list(TRANSFORM M_TEST_DEPS PREPEND profline_)

  set(library profline_${name})
  if(M_SOURCES)
    add_library(${library} STATIC ${M_SOURCES})
    target_include_directories(${library} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${library} PUBLIC ${M_DEPS} ${M_PUBLIC_LIBS} PRIVATE ${M_LIBS} profline_warnings)
    profline_precompiled(${library} module)
    profline_unity(${library})
  else()
    add_library(${library} INTERFACE)
    target_include_directories(${library} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${library} INTERFACE ${M_DEPS} ${M_PUBLIC_LIBS})
  endif()

  if(NOT PROFLINE_TESTS)
    return()
  endif()
  if(M_TESTS)
    profline_test(${name}_test SOURCES ${M_TESTS} LIBS ${library} ${M_TEST_DEPS} ${M_LIBS})
  endif()
  if(M_BENCHES)
    add_executable(${name}_bench ${M_BENCHES})
    set_target_properties(${name}_bench PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench CXX_CLANG_TIDY "${PROFLINE_TEST_TIDY}")
    target_link_libraries(${name}_bench PRIVATE ${library} ${M_TEST_DEPS} ${M_LIBS}
      benchmark::benchmark_main profline_warnings)
    profline_precompiled(${name}_bench module)
    profline_unity(${name}_bench)
    add_dependencies(benches ${name}_bench)
    # For correctness only: tests never judge timings. The largest inputs are left out; each benchmark has smaller ones.
    add_test(NAME ${name}_bench.runs_once COMMAND ${name}_bench --benchmark_min_time=0
      "--benchmark_filter=-/1000000|/1048576|/16777216|/ranks:8/")
    set_tests_properties(${name}_bench.runs_once PROPERTIES LABELS bench TIMEOUT 300)
  endif()
  foreach(source IN LISTS M_FUZZERS)
    profline_fuzzer(${source} ${library} ${M_TEST_DEPS} ${M_LIBS})
  endforeach()
endfunction()

# Adds a program, build/bin/<name>; it is installed into bin unless it is for DEVELOPERS only. COMPONENT names the package
# that it is part of, if not its own.
#
#   profline_program(profline SOURCES main.cpp doctor_command.cpp DEPS process LIBS CLI11::CLI11)
function(profline_program name)
  cmake_parse_arguments(PARSE_ARGV 1 P "DEVELOPERS" "COMPONENT" "SOURCES;DEPS;LIBS")
  if(NOT P_COMPONENT)
    set(P_COMPONENT ${name})
  endif()
  list(TRANSFORM P_DEPS PREPEND profline_)
  add_executable(${name} ${P_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/apps)
  target_link_libraries(${name} PRIVATE ${P_DEPS} ${P_LIBS} profline_version profline_warnings)
  profline_unity(${name})
  if(NOT P_DEVELOPERS)
    add_dependencies(programs ${name})
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${P_COMPONENT})
  endif()
endfunction()

# Adds a shared library for other people's processes, build/lib/profline/lib<name>.so, installed with profline:
#
#   profline_library(profline-recorder SOURCES injection.cpp DEPS recorder_format LIBS Threads::Threads)
#
# It exports only what its sources mark, needs no C++ runtime, is never unloaded, and is always optimised. It is not
# instrumented by sanitizers: their runtime would have to be in the program that loads it.
function(profline_library name)
  cmake_parse_arguments(PARSE_ARGV 1 L "" "" "SOURCES;DEPS;LIBS")
  list(TRANSFORM L_DEPS PREPEND profline_)
  add_library(${name} SHARED ${L_SOURCES})
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/profline
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${name} PRIVATE -O2 -fno-exceptions -fno-rtti -fno-threadsafe-statics)
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc LINKER:-z,nodelete,-z,now,--no-undefined)
  if(PROFLINE_SANITIZE)
    target_compile_options(${name} PRIVATE -fno-sanitize=all)
    target_link_options(${name} PRIVATE -fno-sanitize=all)
  endif()
  target_link_libraries(${name} PRIVATE ${L_DEPS} ${L_LIBS} profline_warnings)
  add_dependencies(programs ${name})
  install(TARGETS ${name} LIBRARY DESTINATION lib/profline COMPONENT profline)
endfunction()

# Adds a GoogleTest program; each of its tests is a separate ctest test, unless PROFLINE_TESTS_TOGETHER is set, which is for
# programs that take long to start. PROFLINE_TEST_PROGRAMS lists all programs.
function(profline_test name)
  cmake_parse_arguments(PARSE_ARGV 1 T "" "TIMEOUT;LABEL;COST" "SOURCES;LIBS")
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  if(NOT T_LABEL)
    set(T_LABEL unit)
  endif()
  if(NOT T_COST)
    set(T_COST 0)
  endif()
  add_executable(${name} ${T_SOURCES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests CXX_CLANG_TIDY "${PROFLINE_TEST_TIDY}")
  target_link_libraries(${name} PRIVATE ${T_LIBS} GTest::gmock GTest::gtest_main profline_warnings)
  profline_precompiled(${name} test)
  profline_unity(${name})
  if(PROFLINE_UNITY)
    target_link_libraries(${name} PRIVATE profline_no_shadow)  # after profline_warnings
  endif()
  set_property(GLOBAL APPEND PROPERTY PROFLINE_TEST_PROGRAMS $<TARGET_FILE:${name}>)
  if(PROFLINE_TESTS_TOGETHER)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES LABELS ${T_LABEL} TIMEOUT 900)
  else()
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${T_LABEL} TIMEOUT ${T_TIMEOUT} COST ${T_COST})
  endif()
endfunction()

# foo_fuzz.cpp defines LLVMFuzzerTestOneInput. With PROFLINE_FUZZ it becomes a libFuzzer program; in
# every other build, a program that replays tests/corpus/foo/, so that crashes do not come back unnoticed.
function(profline_fuzzer source)
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" subject ${name})
  set(corpus ${CMAKE_SOURCE_DIR}/tests/corpus/${subject})
  add_executable(${name} ${source})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz CXX_CLANG_TIDY "${PROFLINE_TEST_TIDY}")
  target_link_libraries(${name} PRIVATE ${ARGN} profline_warnings)
  profline_precompiled(${name} module)
  add_dependencies(fuzzers ${name})
  if(PROFLINE_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    if(NOT TARGET profline_fuzz_replay)
      add_library(profline_fuzz_replay OBJECT ${CMAKE_SOURCE_DIR}/src/testing/fuzz_replay.cpp)
      target_link_libraries(profline_fuzz_replay PRIVATE profline_warnings)
    endif()
    target_link_libraries(${name} PRIVATE profline_fuzz_replay)
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    add_test(NAME ${name}.replays_corpus COMMAND ${name} ${corpus})
    set_tests_properties(${name}.replays_corpus PROPERTIES LABELS fuzz TIMEOUT 120)
  endif()
endfunction()
