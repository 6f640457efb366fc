# Writes generated/profline_version.h before each build, but only if the commit changed, so that an unchanged tree
# rebuilds nothing.
#
# Used twice: included from CMakeLists.txt (defines the target) and run as a script by that target.
if(CMAKE_SCRIPT_MODE_FILE)
  find_package(Git QUIET)
  set(commit "unknown")
  if(GIT_FOUND AND EXISTS ${SOURCE_DIR}/.git)
    # safe.directory: git also works in a tree owned by another user, such as a CI checkout.
    set(git ${GIT_EXECUTABLE} -c safe.directory=* -C ${SOURCE_DIR})
    execute_process(COMMAND ${git} rev-parse --short=12 HEAD
      OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status ERROR_QUIET)
    if(status EQUAL 0)
      set(commit ${head})
      execute_process(COMMAND ${git} status --porcelain --untracked-files=no
        OUTPUT_VARIABLE changes ERROR_QUIET)
      if(changes)
        string(APPEND commit "-modified")
      endif()
    endif()
  endif()
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#pragma once

namespace profline {
constexpr const char* kVersion = "@VERSION@";
/// The commit this was built from; "-modified" if the tree had changes; "unknown" outside git.
constexpr const char* kCommit = "@commit@";
}  // namespace profline
]] @ONLY)
  return()
endif()

add_custom_target(profline_version_header
  COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${CMAKE_SOURCE_DIR} -D VERSION=${PROJECT_VERSION}
    -D OUTPUT=${CMAKE_BINARY_DIR}/generated/profline_version.h
    -P ${CMAKE_CURRENT_LIST_DIR}/profline_version.cmake
  BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/profline_version.h
  VERBATIM)
add_library(profline_version INTERFACE)
add_dependencies(profline_version profline_version_header)
target_include_directories(profline_version INTERFACE ${CMAKE_BINARY_DIR}/generated)
