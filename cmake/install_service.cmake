# Run by `cmake --install`, and by script/package for a relocatable tree. Installs the configuration below ${prefix}, or
# in ${config_dir} if that is absolute, and the systemd unit, which names the program and the configuration. With
# ${unit_prefix}, the unit is for a tree that will be moved there.

if(NOT DEFINED unit_prefix)
  set(unit_prefix ${prefix})
endif()
set(folder ${config_dir})
set(folder_in_unit ${config_dir})
if(NOT IS_ABSOLUTE ${config_dir})
  set(folder ${prefix}/${config_dir})
  set(folder_in_unit ${unit_prefix}/${config_dir})
endif()

# Files that the administrator has changed are kept. In a package, dpkg takes care of that.
foreach(file ${source}/deploy/weir.yaml ${made}/policy.yaml)
  get_filename_component(name ${file} NAME)
  if(EXISTS "$ENV{DESTDIR}${folder}/${name}")
    message(STATUS "Kept: $ENV{DESTDIR}${folder}/${name}")
  else()
    file(INSTALL ${file} DESTINATION ${folder})
  endif()
endforeach()

file(READ ${source}/deploy/systemd/weir.service unit)
string(REPLACE "/usr/bin/weir" "${unit_prefix}/bin/weir" unit "${unit}")
string(REPLACE "/etc/weir" "${folder_in_unit}" unit "${unit}")
file(WRITE ${made}/weir.service "${unit}")
file(INSTALL ${made}/weir.service DESTINATION ${prefix}/lib/systemd/system)
