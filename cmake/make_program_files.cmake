# Run by the build: writes what ${program} prints about itself, and the files that a Debian package must have, into
# ${folder}. ${emulator} runs the program if it was compiled for another architecture; otherwise it is empty.

function(print_to file)
  execute_process(COMMAND ${emulator} ${program} ${ARGN} OUTPUT_FILE ${folder}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY ${folder}/man1 ${folder}/man5)
print_to(weir.bash completion bash)
print_to(_weir completion zsh)
print_to(weir.fish completion fish)
print_to(policy.yaml init -)

execute_process(COMMAND ${emulator} ${program} man --into ${folder}/pages COMMAND_ERROR_IS_FATAL ANY)
foreach(section 1 5)
  file(GLOB pages ${folder}/pages/*.${section})
  file(COPY ${pages} DESTINATION ${folder}/man${section})
endforeach()
configure_file(${source}/deploy/debian/changelog.in ${folder}/changelog.Debian @ONLY)

# Omits the time and the name, so that the same program produces the same bytes.
file(GLOB pages ${folder}/man1/* ${folder}/man5/*)
execute_process(COMMAND gzip -9n ${pages} ${folder}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${folder}/pages)
