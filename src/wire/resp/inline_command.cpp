#include "wire/resp/inline_command.h"

#include <cstddef>
#include <optional>

#include "wire/fields/text_cursor.h"

namespace weir::wire::resp {
namespace {

constexpr bool is_white(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Redis skips \v and \f between words, but within a word takes them as part of it.
constexpr bool ends_word(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

constexpr std::optional<unsigned> hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return {};
}

constexpr char unescaped(char c) noexcept {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

// What the backslash that was just taken off `rest` and the bytes after it stand for. `rest` is not empty.
char take_escaped(std::string_view& rest) noexcept {
  if (rest.size() >= 3 && rest[0] == 'x') {
    const auto high = hex_digit(rest[1]);
    const auto low = hex_digit(rest[2]);
    if (high && low) {
      rest.remove_prefix(3);
      return static_cast<char>(*high * 16 + *low);
    }
  }
  const char c = unescaped(rest.front());
  rest.remove_prefix(1);
  return c;
}

// From behind the opening quote to behind the closing one. False when there is none, or it does not end the word.
bool take_quoted(std::string_view& rest, char quote, std::string& text) {
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == quote) return rest.empty() || is_white(rest.front());
    if (c == '\\' && quote == '"' && !rest.empty()) {
      text += take_escaped(rest);
    } else if (c == '\\' && quote == '\'' && take(rest, '\'')) {
      text += '\'';
    } else {
      text += c;
    }
  }
  return false;
}

}  // namespace

bool split_inline_command(std::string_view line, std::string& unquoted, std::vector<std::string_view>& words) {
  words.clear();
  unquoted.clear();
  unquoted.reserve(line.size());  // enough for all, so that views of it stay
  std::string_view rest = line;
  for (;;) {
    take_while(rest, is_white);
    if (rest.empty()) return true;
    const auto is_plain = [](char c) { return !ends_word(c) && c != '"' && c != '\''; };
    const std::string_view plain = take_while(rest, is_plain);
    if (rest.empty() || ends_word(rest.front())) {
      words.push_back(plain);
      continue;
    }
    const std::size_t begin = unquoted.size();
    unquoted += plain;
    const char quote = rest.front();
    rest.remove_prefix(1);
    if (!take_quoted(rest, quote, unquoted)) return false;
    words.push_back(std::string_view(unquoted).substr(begin));
  }
}

}  // namespace weir::wire::resp
