# Puts the texts of files into a program:
#
#   embed_tree(shipped_config_data.cpp
#     ROOT     ${CMAKE_SOURCE_DIR}/conf            # paths inside the program start here
#     FILES    ${files}                            # absolute
#     HEADER   shipped_config/shipped_config.h     # declares what is defined below
#     FUNCTION profline::shipped_config_files)     # returns std::span<const profline::EmbeddedFile>
#
# writes that file into the current binary directory whenever one of the files has changed. The folder's
# files may come from file(GLOB_RECURSE … CONFIGURE_DEPENDS): a new one is found by the next build.
#
# Used twice: included from CMakeLists.txt (defines the function) and run as a script by what that makes.
if(CMAKE_SCRIPT_MODE_FILE)
  set(entries "")
  file(STRINGS ${LIST} paths ENCODING UTF-8)
  foreach(path IN LISTS paths)
    file(READ ${ROOT}/${path} text)
    if(text MATCHES "\\)embedded\"")
      message(FATAL_ERROR "${path} holds the text that ends a string here: )embedded\"")
    endif()
    string(APPEND entries "    {\"${path}\", R\"embedded(${text})embedded\"sv},\n")
  endforeach()
  string(CONFIGURE [[
// Made by cmake/embed_tree.cmake.
#include "@HEADER@"

namespace {
using namespace std::string_view_literals;  // their length is known, not counted: a large file has no end in constexpr
constexpr profline::EmbeddedFile kFiles[] = {
@entries@};
}  // namespace

std::span<const profline::EmbeddedFile> @FUNCTION@() {
  return kFiles;
}
]] source @ONLY)
  file(WRITE ${OUTPUT} "${source}")  # also when nothing changed: the build compares times
  return()
endif()

set(PROFLINE_EMBED_TREE_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(embed_tree name)
  cmake_parse_arguments(PARSE_ARGV 1 E "" "ROOT;HEADER;FUNCTION" "FILES")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(paths ${E_FILES})
  list(TRANSFORM paths REPLACE "^${E_ROOT}/" "")
  list(SORT paths)
  list(JOIN paths "\n" lines)
  # Rewritten only when it changes, so that configuring again rebuilds nothing.
  file(CONFIGURE OUTPUT ${output}.list CONTENT "${lines}\n" @ONLY)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D ROOT=${E_ROOT} -D LIST=${output}.list -D HEADER=${E_HEADER}
      -D FUNCTION=${E_FUNCTION} -D OUTPUT=${output} -P ${PROFLINE_EMBED_TREE_SCRIPT}
    DEPENDS ${E_FILES} ${output}.list ${PROFLINE_EMBED_TREE_SCRIPT}
    COMMENT "Embedding ${E_ROOT}"
    VERBATIM)
endfunction()
