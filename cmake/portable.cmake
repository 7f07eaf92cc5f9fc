# WEIR_PORTABLE: the program with every library but libc linked into it, to run on other distributions (script/package
# --tarball). It is compiled as ever; only what is linked differs. Archives that Debian does not have are looked for in
# CMAKE_LIBRARY_PATH, where script/package has built them from Debian's sources.

option(WEIR_PORTABLE "Link all libraries but libc into the program" OFF)
if(NOT WEIR_PORTABLE)
  return()
endif()

set(ZLIB_USE_STATIC_LIBS ON)
set(OPENSSL_USE_STATIC_LIBS ON)

# link_archive(TARGET NAME): the target of another project stands for its archive.
function(link_archive target name)
  find_library(ARCHIVE_${name} lib${name}.a REQUIRED)
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  if(NOT configurations)  # pkg-config's: it names files
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
cmake_language(DEFER CALL link_archives)  # when all packages are found

add_link_options(-static-libstdc++ -static-libgcc)
