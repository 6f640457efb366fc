# Debian packages of the programs: `make deb`, or cpack in a build folder. The orchestrator needs no libtorch; the workload is a
# package of its own. Both depend on the libraries they were linked with, so they install on the release they were built on.
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL "")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_VENDOR "The profline developers")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The profline developers <profline@localhost>")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

function(profline_copyright package)
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}/../${package} RENAME copyright COMPONENT ${package})
endfunction()

if(TARGET profline)
  list(APPEND CPACK_COMPONENTS_ALL profline)
  profline_copyright(profline)
  set(CPACK_DEBIAN_PROFLINE_PACKAGE_NAME profline)
  set(CPACK_DEBIAN_PROFLINE_DESCRIPTION
    "profline runs the PyTorch profiler, Nsight Systems and Nsight Compute over a workload, verifies every capture, joins the results, and reports what limits each phase. This package needs no libtorch.")
  set(CPACK_DEBIAN_PROFLINE_PACKAGE_RECOMMENDS "profline-workload (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_PROFLINE_PACKAGE_SUGGESTS "nsight-systems, nsight-compute")
endif()
if(TARGET profline-workload)
  # dpkg knows no package for a libtorch that pip installed.
  if(TORCH_LIBRARY MATCHES "^/usr/lib/")
    list(APPEND CPACK_COMPONENTS_ALL profline-workload)
    profline_copyright(profline-workload)
    set(CPACK_DEBIAN_PROFLINE-WORKLOAD_PACKAGE_NAME profline-workload)
    set(CPACK_DEBIAN_PROFLINE-WORKLOAD_DESCRIPTION
      "The built-in models that profline can measure, DeepSeek-OCR and a small network, on libtorch.")
    # The reference BLAS is 30 times slower.
    set(CPACK_DEBIAN_PROFLINE-WORKLOAD_PACKAGE_RECOMMENDS libopenblas0-pthread)
  else()
    message(STATUS "profline: no package of profline-workload, because its libtorch is not Debian's (${TORCH_LIBRARY})")
  endif()
endif()
include(CPack)
