# The Python package that user's programs import and the folder whose sitecustomize loads it: copied to
# share/profline/python of the build folder, so that build/bin/profline finds them as an installed profline does.
file(GLOB_RECURSE python_files RELATIVE ${CMAKE_SOURCE_DIR}/python CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/*.py)
if(NOT python_files)
  return()
endif()
set(python_copies "")
foreach(file IN LISTS python_files)
  set(copy ${CMAKE_BINARY_DIR}/share/profline/python/${file})
  add_custom_command(OUTPUT ${copy}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/python/${file} ${copy}
    DEPENDS ${CMAKE_SOURCE_DIR}/python/${file} VERBATIM)
  list(APPEND python_copies ${copy})
endforeach()
add_custom_target(python_package ALL DEPENDS ${python_copies})
add_dependencies(programs python_package)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/ DESTINATION ${CMAKE_INSTALL_DATADIR}/profline/python COMPONENT profline
  FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
