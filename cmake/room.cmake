# A room of the house: one folder, one target, the rooms it may see. docs/architecture.md has the table.

add_library(weir_warnings INTERFACE)
target_compile_options(weir_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Wcast-align -Woverloaded-virtual -Wnull-dereference -Wimplicit-fallthrough -Werror)

# The public headers and what they need.
add_library(weir_api INTERFACE)
target_include_directories(weir_api INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(weir_api INTERFACE tl::expected)

# weir_room(core SOURCES a.cpp ... SEES other_room ... LINKS other_project::library ...)
function(weir_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;SEES;LINKS" ${ARGN})
  add_library(weir_${name} OBJECT ${ROOM_SOURCES})
  target_include_directories(weir_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(weir_${name} PUBLIC weir_api Threads::Threads ${ROOM_LINKS} PRIVATE weir_warnings)
  foreach(seen IN LISTS ROOM_SEES)
    target_link_libraries(weir_${name} PUBLIC weir_${seen})
  endforeach()
endfunction()
