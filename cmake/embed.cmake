# cmake -D FROM=file -D TO=file.cpp -D HEADER=frontend/x.h -D FUNCTION=name -P embed.cmake: a file as bytes of the
# program, which FUNCTION of the namespace weir::frontend, declared in HEADER, gives.
file(READ ${FROM} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" lines "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" lines "${lines}")
string(REGEX REPLACE "([^\n]+)" "    \"\\1\"" lines "${lines}")
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
file(WRITE ${TO} "#include \"${HEADER}\"

namespace weir::frontend {

std::string_view ${FUNCTION}() noexcept {
  static constexpr char bytes[] =
${lines};
  return {bytes, ${size}};
}

}  // namespace weir::frontend
")
