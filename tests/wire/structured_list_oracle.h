// RFC 9651's grammar of a List without Inner Lists as one regular expression. It is slow and derived from the grammar,
// while the reader implements the parsing algorithm.
#pragma once

#include <regex.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace weir::wire {

// Uses the C library, because std::regex does not compile without warnings under the sanitizers.
inline regex_t compile_list_grammar() {
  const std::string hex = "[0-9a-f]";
  const std::string more = "%[89ab]" + hex;  // a UTF-8 continuation byte
  const std::string utf8 = "[ !#$&-~]|%[0-7]" + hex + "|%(c[2-9a-f]|d" + hex + ")" + more + "|%e0%[ab]" + hex + more +
                           "|%e[1-9abcef]" + more + more + "|%ed%[89]" + hex + more + "|%f0%[9ab]" + hex + more + more +
                           "|%f[123]" + more + more + more + "|%f4%8" + hex + more + more;
  const std::string base64 = "[A-Za-z0-9+/]";
  const std::string number = "-?[0-9]{1,15}|-?[0-9]{1,12}[.][0-9]{1,3}";
  const std::string string = R"("([]!#-[^-~ ]|\\["\])*")";
  const std::string token = "[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*";
  const std::string bytes = ":(" + base64 + "{4})*(" + base64 + "{2}(==)?|" + base64 + "{3}=?)?:";
  const std::string item =
      "(" + number + "|" + string + "|" + token + "|" + bytes + "|[?][01]|@-?[0-9]{1,15}|%\"(" + utf8 + ")*\")";
  const std::string member = item + "(; *[a-z*][a-z0-9_.*-]*(=" + item + ")?)*";
  const std::string list = "^ *(" + member + "([ \t]*,[ \t]*" + member + ")*[ \t]*)?$";
  regex_t compiled;
  if (regcomp(&compiled, list.c_str(), REG_EXTENDED | REG_NOSUB) != 0) std::abort();
  return compiled;
}

inline bool oracle_accepts(std::string_view field) {
  static const regex_t list = compile_list_grammar();
  if (field.find('\0') != std::string_view::npos) return false;
  return regexec(&list, std::string(field).c_str(), 0, nullptr, 0) == 0;
}

}  // namespace weir::wire
