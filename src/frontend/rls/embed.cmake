# cmake -D FROM=file -D TO=file.cpp -P embed.cmake: the descriptors as bytes of the program.
file(READ ${FROM} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" lines "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" lines "${lines}")
string(REGEX REPLACE "([^\n]+)" "    \"\\1\"" lines "${lines}")
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
file(WRITE ${TO} "#include \"frontend/rls/side_services.h\"

namespace weir::frontend {

std::string_view descriptor_set() noexcept {
  static constexpr char bytes[] =
${lines};
  return {bytes, ${size}};
}

}  // namespace weir::frontend
")
