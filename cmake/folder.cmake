# A folder of src: one target, and the folders it may see. docs/architecture.md has the table.

# Of what is compiled here, and of nobody who links it.
add_library(weir_warnings INTERFACE)
if(WEIR_WARNINGS)
  target_compile_options(weir_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
    -Wcast-align -Woverloaded-virtual -Wnull-dereference -Wimplicit-fallthrough)
  # Clang sees names of other files of a folder as hidden, since they are compiled together, and reports what g++'s
  # library uses of its own; the rest are warnings that g++ does not have.
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
# The files of a folder are compiled together, as one: most of the time goes into the headers that they all read. So what
# is in their unnamed namespaces has names of its own in the folder. ONE_BY_ONE is for what is on the way of every
# request: in a larger unit the compiler inlines less.
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
