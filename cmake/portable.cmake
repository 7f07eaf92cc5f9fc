# WEIR_PORTABLE links every library except libc statically into the program, to run it on other distributions
# (script/package --tarball). Compilation is unchanged; only linking differs. Archives that Debian does not have are
# looked for in CMAKE_LIBRARY_PATH, where script/package has built them from Debian's sources.

option(WEIR_PORTABLE "Link all libraries but libc into the program" OFF)
if(NOT WEIR_PORTABLE)
  return()
endif()

set(ZLIB_USE_STATIC_LIBS ON)
set(OPENSSL_USE_STATIC_LIBS ON)

# link_archive(TARGET NAME) makes the imported target of another project refer to its archive.
function(link_archive target name)
  find_library(ARCHIVE_${name} lib${name}.a REQUIRED)
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  if(NOT configurations)  # a target of pkg-config, which names files
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES ${ARCHIVE_${name}})
    return()
  endif()
  foreach(configuration IN LISTS configurations)
    set_target_properties(${target} PROPERTIES
      IMPORTED_LOCATION_${configuration} ${ARCHIVE_${name}} IMPORTED_SONAME_${configuration} "")
  endforeach()
endfunction()

function(link_archives)
  link_archive(fmt::fmt fmt)
  link_archive(yaml-cpp yaml-cpp)
  link_archive(simdjson::simdjson simdjson)
  link_archive(date::date-tz date-tz)
  link_archive(PkgConfig::nghttp2 nghttp2)
endfunction()
cmake_language(DEFER CALL link_archives)  # once all packages are found

add_link_options(-static-libstdc++ -static-libgcc)
