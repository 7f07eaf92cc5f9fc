# Defines what `cmake --install` installs with the program: man pages and completions, which the program prints itself;
# its configuration; the systemd unit; alerts, the dashboard, manifests and examples.

set(WEIR_DEB_REVISION 1 CACHE STRING "The revision of the Debian packages, behind the version")

set(made ${PROJECT_BINARY_DIR}/program_files)
add_custom_command(OUTPUT ${made}/made
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${made}
  COMMAND ${CMAKE_COMMAND} -D program=$<TARGET_FILE:weir_program> -D "emulator=${CMAKE_CROSSCOMPILING_EMULATOR}"
          -D folder=${made} -D source=${PROJECT_SOURCE_DIR}
          -D version=${PROJECT_VERSION}-${WEIR_DEB_REVISION} -P ${PROJECT_SOURCE_DIR}/cmake/make_program_files.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${made}/made
  DEPENDS weir_program cmake/make_program_files.cmake deploy/debian/changelog.in
  COMMENT "Man pages, completions, the first policy")
add_custom_target(weir_program_files ALL DEPENDS ${made}/made)

# With the prefix /usr, as in a distribution, the configuration is in /etc; otherwise it is below the prefix, such as
# /usr/local/etc. The folders of the shells differ in the same way.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(config_dir /etc/weir)
  set(zsh_dir ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
else()
  set(config_dir ${CMAKE_INSTALL_SYSCONFDIR}/weir)
  set(zsh_dir ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()

# Everything in this file belongs to the program.
function(install_for_program)
  install(${ARGN} COMPONENT program)
endfunction()

install_for_program(DIRECTORY ${made}/man1 ${made}/man5 DESTINATION ${CMAKE_INSTALL_MANDIR})
install_for_program(FILES ${made}/weir.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME weir)
install_for_program(FILES ${made}/_weir DESTINATION ${zsh_dir})
install_for_program(FILES ${made}/weir.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install_for_program(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
  USE_SOURCE_PERMISSIONS)
install_for_program(FILES ${PROJECT_SOURCE_DIR}/deploy/prometheus/alerts.yml
  DESTINATION ${CMAKE_INSTALL_DATADIR}/weir/prometheus)
install_for_program(FILES ${PROJECT_SOURCE_DIR}/deploy/grafana/weir.json DESTINATION ${CMAKE_INSTALL_DATADIR}/weir/grafana)
install_for_program(DIRECTORY ${PROJECT_SOURCE_DIR}/deploy/kubernetes DESTINATION ${CMAKE_INSTALL_DATADIR}/weir)
install_for_program(FILES ${PROJECT_SOURCE_DIR}/deploy/systemd/weir.sysusers DESTINATION lib/sysusers.d RENAME weir.conf)

# Installs the files that depend on the prefix, which --prefix may have changed.
install(CODE "
  set(config_dir \"${config_dir}\")
  set(source \"${PROJECT_SOURCE_DIR}\")
  set(prefix \"\${CMAKE_INSTALL_PREFIX}\")
  set(made \"${made}\")" COMPONENT program)
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_service.cmake COMPONENT program)
