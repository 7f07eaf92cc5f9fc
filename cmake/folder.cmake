# Defines a folder of src: one target, and the folders it may include. docs/architecture.md has the table.

# Applies to what is compiled here, not to targets that link to it.
add_library(weir_warnings INTERFACE)
if(WEIR_WARNINGS)
  target_compile_options(weir_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
    -Wcast-align -Woverloaded-virtual -Wnull-dereference -Wimplicit-fallthrough)
  # In a unity build, clang reports names as hidden by other files of the folder, and extensions that g++'s library
  # uses. The other disabled warnings do not exist in g++.
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    target_compile_options(weir_warnings INTERFACE -Wno-shadow -Wno-deprecated-declarations -Wno-overlength-strings
      -Wno-missing-braces)
  endif()
endif()

# The public headers and what they need.
add_library(weir_api INTERFACE)
target_include_directories(weir_api INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(weir_api INTERFACE tl::expected)

# weir_folder(core SOURCES a.cpp ... SEES other_folder ... LINKS other_project::library ...)
# The files of a folder are compiled as a unity build, because most of the time goes into their common headers. Names in
# their unnamed namespaces must therefore be unique in the folder. ONE_BY_ONE compiles each file separately, for code
# that every request runs: in a larger unit the compiler inlines less.
function(weir_folder name)
  cmake_parse_arguments(FOLDER "ONE_BY_ONE" "" "SOURCES;SEES;LINKS" ${ARGN})
  add_library(weir_${name} OBJECT ${FOLDER_SOURCES})
  if(NOT FOLDER_ONE_BY_ONE)
    set_target_properties(weir_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  endif()
  target_include_directories(weir_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(weir_${name} PUBLIC weir_api Threads::Threads ${FOLDER_LINKS} PRIVATE weir_warnings)
  foreach(seen IN LISTS FOLDER_SEES)
    target_link_libraries(weir_${name} PUBLIC weir_${seen})
  endforeach()
endfunction()
