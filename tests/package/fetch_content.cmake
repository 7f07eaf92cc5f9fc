# Builds a project that includes the checkout, from scratch, and runs it: -D checkout -D build -D source -D binary -D
# compiler -D flags -D python. Files that the checkout's own build has already compiled are not compiled again.

file(REMOVE_RECURSE ${binary})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${binary} -G Ninja -D checkout=${checkout}
  -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_FLAGS=${flags}
  "-DCMAKE_CXX_COMPILER_LAUNCHER=${python};-B;${CMAKE_CURRENT_LIST_DIR}/reuse_objects.py;${build}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${binary} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${binary}/consumer COMMAND_ERROR_IS_FATAL ANY)
