# Defines what `cmake --install` installs: headers, libraries, the program, and the files by which other projects find
# them (find_package(weir COMPONENTS engine) and pkg-config). tests/package builds such projects.
# cmake/program_files.cmake has the files that accompany the program.

include(CMakePackageConfigHelpers)

# Components that can be installed separately (cmake/packages.cmake): the program, and the files for development.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
if(WEIR_PROGRAM)
  include(cmake/program_files.cmake)
  include(cmake/packages.cmake)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weir)

install(TARGETS weir EXPORT weirTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(WEIR_PROGRAM)
  install(TARGETS weir_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/weir DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)

# A separate component, so that its dependencies are looked for only if it is requested.
if(WEIR_ENGINE)
  install(TARGETS weir_engine_library EXPORT weirEngineTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT weirEngineTargets NAMESPACE weir:: DESTINATION ${package_dir})
endif()

install(EXPORT weirTargets NAMESPACE weir:: DESTINATION ${package_dir})
configure_package_config_file(cmake/weirConfig.cmake.in ${PROJECT_BINARY_DIR}/weirConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weirConfig.cmake ${PROJECT_BINARY_DIR}/weirConfigVersion.cmake
  DESTINATION ${package_dir})

file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(pc_names weir)
if(WEIR_ENGINE)
  list(APPEND pc_names weir-engine)
endif()
foreach(name IN LISTS pc_names)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
