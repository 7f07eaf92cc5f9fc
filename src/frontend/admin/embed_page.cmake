# cmake -D FROM=folder -D TO=file.cpp -P embed_page.cmake
# Writes the files of the page as byte arrays, with their content types and ETags.
set(type_html "text/html; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_svg "image/svg+xml")
set(type_json "application/json")
set(type_png "image/png")
set(type_ico "image/x-icon")

file(GLOB files ${FROM}/*)
list(SORT files)
set(count 0)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  string(REGEX MATCH "[^.]+$" ending ${name})
  if(NOT DEFINED type_${ending})
    message(FATAL_ERROR "${file}: unknown content type for '.${ending}'; add it to embed_page.cmake or remove the file")
  endif()
  file(SHA256 ${file} digest)
  string(SUBSTRING ${digest} 0 32 digest)
  file(READ ${file} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" lines "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" lines "${lines}")
  string(REGEX REPLACE "([^\n]+)" "    \"\\1\"" lines "${lines}")
  string(APPEND contents "constexpr char page_file_${count}[] = \"\"\n${lines};\n")
  string(APPEND table
    "    PageFile{\"${name}\", \"${type_${ending}}\", {page_file_${count}, ${size}}, \"\\\"${digest}\\\"\"},\n")
  math(EXPR count "${count} + 1")
endforeach()

file(WRITE ${TO} "#include <array>

#include \"frontend/admin/page_files.h\"

namespace weir::frontend {
namespace {

${contents}
constexpr std::array<PageFile, ${count}> page_table{
${table}};

}  // namespace

std::span<const PageFile> page_files() noexcept {
  return page_table;
}

}  // namespace weir::frontend
")
