# The Debian packages: weir, the program with its service, and libweir-dev, the libraries. script/package builds them.
# Each is a component: what cmake/install.cmake installs is `development` unless it says otherwise.

set(debian ${PROJECT_SOURCE_DIR}/deploy/debian)
foreach(package weir:program libweir-dev:development)
  string(REPLACE ":" ";" package ${package})
  list(GET package 0 name)
  list(GET package 1 component)
  set(doc_dir ${CMAKE_INSTALL_DATADIR}/doc/${name})
  # Only for packages; elsewhere LICENSE is enough.
  install(FILES ${debian}/copyright DESTINATION ${doc_dir} COMPONENT ${component}_package EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_BINARY_DIR}/program_files/changelog.Debian.gz DESTINATION ${doc_dir}
    COMPONENT ${component}_package EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL program development program_package development_package)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENT_PROGRAM_GROUP weir)
set(CPACK_COMPONENT_PROGRAM_PACKAGE_GROUP weir)
set(CPACK_COMPONENT_DEVELOPMENT_GROUP libweir_dev)
set(CPACK_COMPONENT_DEVELOPMENT_PACKAGE_GROUP libweir_dev)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON)  # /etc is outside the prefix
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/strip_archives.cmake)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "rate limiter for proxies and programs")
set(CPACK_PACKAGE_CONTACT "Weir's maintainers <maintainers@weir.invalid>" CACHE STRING "The maintainer of the packages")
set(CPACK_DEBIAN_PACKAGE_RELEASE ${WEIR_DEB_REVISION})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_WEIR_PACKAGE_NAME weir)
set(CPACK_DEBIAN_WEIR_PACKAGE_SECTION net)
set(CPACK_DEBIAN_WEIR_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_WEIR_PACKAGE_DEPENDS "adduser, tzdata")
set(CPACK_DEBIAN_WEIR_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_WEIR_PACKAGE_SUGGESTS "redis-server, prometheus")
set(CPACK_DEBIAN_WEIR_PACKAGE_CONTROL_EXTRA
  ${debian}/conffiles ${debian}/postinst ${debian}/prerm ${debian}/postrm)
set(CPACK_DEBIAN_WEIR_DESCRIPTION
"Weir decides, for every request, whether it may pass now. It serves decisions
over HTTP (a check API, and forward-auth for nginx, Traefik, Caddy, HAProxy
and Envoy), by Envoy's rate limit service and in the Redis protocol.
.
It decides by policies: files that say who is limited, on what, and how. The
same program checks, explains, compares and replays them.")

set(CPACK_DEBIAN_LIBWEIR_DEV_PACKAGE_NAME libweir-dev)
set(CPACK_DEBIAN_LIBWEIR_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBWEIR_DEV_PACKAGE_DEPENDS libexpected-dev)
if(WEIR_ENGINE)  # the libraries that the engine is linked to
  string(APPEND CPACK_DEBIAN_LIBWEIR_DEV_PACKAGE_DEPENDS
    ", libfmt-dev, libhowardhinnant-date-dev, libssl-dev, libyaml-cpp-dev")
endif()
set(CPACK_DEBIAN_LIBWEIR_DEV_DESCRIPTION
"Weir decides, for every request, whether it may pass now. This package has
the library to embed in C++20 programs: headers, the static library, and
files for CMake (find_package) and pkg-config.")

include(CPack)
cpack_add_component_group(weir)
cpack_add_component_group(libweir_dev)
