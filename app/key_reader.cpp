#include "app/top_screen.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace weir::app {
namespace {

constexpr char escape_byte = 0x1b;

constexpr std::array<std::pair<std::string_view, Key>, 10> sequences{{{"A", Key::up},
                                                                      {"B", Key::down},
                                                                      {"H", Key::home},
                                                                      {"F", Key::end},
                                                                      {"1~", Key::home},
                                                                      {"7~", Key::home},
                                                                      {"4~", Key::end},
                                                                      {"8~", Key::end},
                                                                      {"5~", Key::page_up},
                                                                      {"6~", Key::page_down}}};

// Returns the length of the escape sequence (ESC [ or ESC O) at the start of `bytes`, if it is complete.
std::optional<std::size_t> sequence_length(std::string_view bytes) {
  if (bytes[1] == 'O') return bytes.size() >= 3 ? std::optional<std::size_t>(3) : std::nullopt;
  for (std::size_t i = 2; i < bytes.size(); ++i) {
    if (bytes[i] >= '@' && bytes[i] <= '~') return i + 1;
  }
  return {};
}

std::optional<Press> press_of(char c) {
  if (c == '\r' || c == '\n') return Press{.key = Key::enter};
  if (c == '\b' || c == 0x7F) return Press{.key = Key::backspace};
  if (c >= ' ' && c <= '~') return Press{.key = Key::letter, .letter = c};
  return {};
}

}  // namespace

std::vector<Press> KeyReader::read(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Press> presses;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    if (rest[0] != escape_byte) {
      if (const auto press = press_of(rest[0])) presses.push_back(*press);
      rest.remove_prefix(1);
      continue;
    }
    if (rest.size() == 1) break;
    if (rest[1] != '[' && rest[1] != 'O') {
      presses.push_back({.key = Key::escape});
      rest.remove_prefix(1);
      continue;
    }
    constexpr std::size_t max_length = 32;
    const auto length = rest.size() > max_length ? std::optional(rest.size()) : sequence_length(rest);
    if (!length) break;
    const auto known =
        std::ranges::find(sequences, rest.substr(2, *length - 2), [](const auto& each) { return each.first; });
    if (known != sequences.end()) presses.push_back({.key = known->second});
    rest.remove_prefix(*length);
  }
  pending_ = std::string(rest);
  return presses;
}

std::vector<Press> KeyReader::flush() {
  std::vector<Press> presses;
  if (!pending_.empty()) presses.push_back({.key = Key::escape});
  pending_.clear();
  return presses;
}

}  // namespace weir::app
