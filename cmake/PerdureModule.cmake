# How every module of Perdure is built: compile flags, compiler cache, precompiled headers, and
# the one function that makes a library together with its tests.

include(GoogleTest)

# --- Flags shared by everything we compile -------------------------------------------------------

# Files that are compiled as one see names of each other, and g++ 12, when it optimizes units of that
# size, warns of strings that are all right. `dev` and `release` check the sources file by file.
set(merged $<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>)
set(not_for_merged -Wno-subobject-linkage -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                   -Wno-stringop-overread -Wno-maybe-uninitialized)

add_library(perdure_flags INTERFACE)
target_compile_options(
  perdure_flags
  INTERFACE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor
            $<$<NOT:${merged}>:-Wshadow>
            "$<$<AND:${merged},$<CXX_COMPILER_ID:GNU>>:${not_for_merged}>"
            # Designated initialisers leave the rest at its default on purpose.
            -Wno-missing-field-initializers
            # Outputs do not depend on where the repository is cloned.
            -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
            $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
            # Memory is there: collect garbage later than by default, which saves a seventh.
            "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=1048576>")
target_link_libraries(perdure_flags INTERFACE Threads::Threads)

set(PERDURE_TEST_TIMEOUT 120)
set(PERDURE_SOAK_TIMEOUT 1200)
set(PERDURE_TEST_ENVIRONMENT "")
if(PERDURE_SANITIZE)
  set(sanitize -fsanitize=${PERDURE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(perdure_flags INTERFACE ${sanitize})
  target_link_options(perdure_flags INTERFACE ${sanitize})
  math(EXPR PERDURE_TEST_TIMEOUT "3 * ${PERDURE_TEST_TIMEOUT}")
  math(EXPR PERDURE_SOAK_TIMEOUT "3 * ${PERDURE_SOAK_TIMEOUT}")
  # The first finding ends the test; there are no suppressions.
  set(PERDURE_TEST_ENVIRONMENT
      ASAN_OPTIONS=halt_on_error=1:detect_leaks=1:detect_stack_use_after_return=1:malloc_context_size=10
      UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
      TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1)
endif()

# --- Compiler cache ------------------------------------------------------------------------------

find_program(CCACHE_PROGRAM ccache)
if(PERDURE_CCACHE AND CCACHE_PROGRAM)
  # Paths are hashed relative to the parent of the clone, so clones share their results. The
  # sloppiness is what ccache asks for with precompiled headers, less `include_file_mtime` and
  # `include_file_ctime`: with those a header that is edited while it is compiled leaves a result of
  # its old text under the hash of its new one, and every later build of the machine takes it.
  cmake_path(GET PROJECT_SOURCE_DIR PARENT_PATH clone_parent)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${clone_parent} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,locale
      ${CCACHE_PROGRAM})
endif()

# --- Precompiled headers -------------------------------------------------------------------------

# Makes target `name` that precompiles `header`, a file of this folder, with the given libraries in
# sight. It is named without its folder, so that all clones get the same bytes, or they could not
# share what is compiled with it.
function(perdure_precompile name header)
  set(anchor ${PROJECT_BINARY_DIR}/pch/${name}.cc)
  file(CONFIGURE OUTPUT ${anchor} CONTENT "// Carries the precompiled header ${name}.\n")
  add_library(${name} OBJECT ${anchor})
  target_link_libraries(${name} PRIVATE perdure_flags ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake)
  target_precompile_headers(${name} PRIVATE "\"${header}\"")
endfunction()

if(PERDURE_PCH)
  target_compile_options(
    perdure_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
                            "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  perdure_precompile(perdure_pch pch.h)
  perdure_precompile(perdure_test_pch pch_test.h GTest::gtest)
  perdure_precompile(perdure_api_test_pch pch_api_test.h GTest::gtest
                     nlohmann_json::nlohmann_json)
  target_include_directories(perdure_api_test_pch PRIVATE ${PROJECT_SOURCE_DIR}/include)
endif()

function(perdure_use_pch target pch)
  if(PERDURE_PCH)
    target_precompile_headers(${target} REUSE_FROM ${pch})
  endif()
endfunction()

# --- Files compiled as one ------------------------------------------------------------------------

# Compiles the files of a target in batches, each as one file, when PERDURE_MERGE says so for this
# `kind` of target: TESTS or SOURCES. A name in an anonymous namespace is then seen by the other
# files of the target: a test file has a namespace of its own, elsewhere such names differ.
function(perdure_merge target kind)
  if(PERDURE_MERGE STREQUAL "ALL" OR PERDURE_MERGE STREQUAL kind)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON
                                               UNITY_BUILD_BATCH_SIZE ${PERDURE_MERGE_BATCH})
  endif()
endfunction()

# --- Modules -------------------------------------------------------------------------------------

# Registers every case of a test executable as its own CTest entry `<prefix>.<Suite>.<Case>`.
# A suite whose name contains `Soak` gets the label `soak`, which ordinary runs leave out.
function(perdure_discover_tests target prefix labels)
  set(common TEST_PREFIX ${prefix}. NO_PRETTY_VALUES DISCOVERY_MODE POST_BUILD
      DISCOVERY_TIMEOUT 60)
  gtest_discover_tests(${target} ${common} TEST_FILTER "-*Soak*" TEST_LIST ${target}_cases)
  gtest_discover_tests(${target} ${common} TEST_FILTER "*Soak*" TEST_LIST ${target}_soak_cases)
  # gtest_discover_tests cannot pass a list of labels on, so CTest reads them from a file.
  set(properties ${CMAKE_CURRENT_BINARY_DIR}/${target}_properties.cmake)
  file(CONFIGURE OUTPUT ${properties} @ONLY CONTENT [[
if(@target@_cases)
  set_tests_properties(${@target@_cases} PROPERTIES
    TIMEOUT @PERDURE_TEST_TIMEOUT@ LABELS "@labels@" ENVIRONMENT "@PERDURE_TEST_ENVIRONMENT@")
endif()
if(@target@_soak_cases)
  set_tests_properties(${@target@_soak_cases} PROPERTIES
    TIMEOUT @PERDURE_SOAK_TIMEOUT@ LABELS "@labels@;soak" ENVIRONMENT "@PERDURE_TEST_ENVIRONMENT@")
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${properties})
endfunction()

# Makes library `perdure_<NAME>` (alias `perdure::<NAME>`) and, when TESTS are given, its one test
# executable `perdure_<NAME>_tests`.
#
#   NAME         name of the module
#   DEPS         modules whose headers it may include: `base` stands for perdure::base
#   SOURCES      its source files; without any the library is header-only
#   LIBS         external targets it uses and does not show in its headers
#   TESTS        sources of the test executable
#   TEST_DEPS    further modules that the tests use
#   TEST_SUITES  modules of shared test cases (made with TEST_LIBRARY), linked whole so that no
#                case is dropped
#   LABELS       CTest labels; the name of the module by default
#   API_TESTS    the tests are written against the public API
#   TEST_LIBRARY the module consists of test cases or test helpers: it sees GoogleTest and
#                includes headers of tests as "tests/..."
function(perdure_module)
  cmake_parse_arguments(PARSE_ARGV 0 arg "TEST_LIBRARY;API_TESTS" "NAME"
                        "DEPS;SOURCES;LIBS;TESTS;TEST_DEPS;TEST_SUITES;LABELS")
  if(NOT arg_NAME OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "perdure_module: NAME missing or stray words: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  list(TRANSFORM arg_DEPS PREPEND perdure::)
  list(TRANSFORM arg_TEST_DEPS PREPEND perdure::)
  set(library perdure_${arg_NAME})

  if(arg_SOURCES)
    set(reach PUBLIC)
    add_library(${library} STATIC ${arg_SOURCES})
    target_link_libraries(${library} PRIVATE ${arg_LIBS})
    if(arg_TEST_LIBRARY)
      perdure_use_pch(${library} perdure_test_pch)
      perdure_merge(${library} TESTS)
    else()
      perdure_use_pch(${library} perdure_pch)
      perdure_merge(${library} SOURCES)
    endif()
  else()
    set(reach INTERFACE)
    add_library(${library} INTERFACE)
    target_link_libraries(${library} INTERFACE ${arg_LIBS})
  endif()
  add_library(perdure::${arg_NAME} ALIAS ${library})
  target_include_directories(${library} ${reach} ${PROJECT_SOURCE_DIR}/include
                                                 ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${library} ${reach} perdure_flags ${arg_DEPS})
  if(arg_TEST_LIBRARY)
    target_include_directories(${library} ${reach} ${PROJECT_SOURCE_DIR})
    target_link_libraries(${library} ${reach} GTest::gtest GTest::gmock)
  endif()

  if(arg_TESTS)
    add_executable(${library}_tests ${arg_TESTS})
    target_include_directories(${library}_tests PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${library}_tests PRIVATE ${library} ${arg_TEST_DEPS} GTest::gmock
                                                   GTest::gtest GTest::gtest_main)
    foreach(suite IN LISTS arg_TEST_SUITES)
      target_link_libraries(${library}_tests PRIVATE perdure_${suite})
      set_property(TARGET ${library}_tests APPEND PROPERTY LINK_LIBRARY_OVERRIDE
                                                           WHOLE_ARCHIVE,perdure_${suite})
    endforeach()
    if(arg_API_TESTS)
      target_link_libraries(${library}_tests PRIVATE nlohmann_json::nlohmann_json)
      perdure_use_pch(${library}_tests perdure_api_test_pch)
    else()
      perdure_use_pch(${library}_tests perdure_test_pch)
    endif()
    perdure_merge(${library}_tests TESTS)
    if(NOT arg_LABELS)
      set(arg_LABELS ${arg_NAME})
    endif()
    perdure_discover_tests(${library}_tests ${arg_NAME} "${arg_LABELS}")
  endif()
endfunction()

# Makes a program in the bin directory, from modules and external targets.
#
#   perdure_program(NAME <name> SOURCES <file>... [DEPS <module>...] [LIBS <target>...])
function(perdure_program)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;DEPS;LIBS")
  if(NOT arg_NAME OR NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "perdure_program: wants NAME and SOURCES: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  list(TRANSFORM arg_DEPS PREPEND perdure::)
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_include_directories(${arg_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                                 ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${arg_NAME} PRIVATE perdure_flags ${arg_DEPS} ${arg_LIBS})
  perdure_use_pch(${arg_NAME} perdure_pch)
  perdure_merge(${arg_NAME} SOURCES)
endfunction()
