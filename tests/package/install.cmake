# Installs the build in ${build} into ${prefix} through another folder, to show that an installed tree can be moved.

file(REMOVE_RECURSE ${prefix} ${prefix}.staged)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${prefix}.staged COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${prefix}.staged ${prefix})
