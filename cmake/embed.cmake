# cmake -D FROM=file -D TO=file.cpp -D HEADER=frontend/x.h -D FUNCTION=name -P embed.cmake
# Embeds a file in the program as bytes that FUNCTION returns. HEADER declares it, in the namespace of its folder of
# src.
string(REGEX REPLACE "/.*" "" folder ${HEADER})
file(READ ${FROM} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" lines "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" lines "${lines}")
string(REGEX REPLACE "([^\n]+)" "    \"\\1\"" lines "${lines}")
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
file(WRITE ${TO} "#include \"${HEADER}\"

namespace weir::${folder} {

std::string_view ${FUNCTION}() noexcept {
  static constexpr char bytes[] =
${lines};
  return {bytes, ${size}};
}

}  // namespace weir::${folder}
")
