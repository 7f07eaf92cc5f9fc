#include "engine/forwarded.h"

#include <algorithm>
#include <cstddef>

namespace weir::engine {
namespace {

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blank = " \t";
  const std::size_t from = text.find_first_not_of(blank);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(blank) - from + 1);
}

std::string_view unquoted(std::string_view text) noexcept {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return text;
}

bool is_for(std::string_view name) noexcept {
  return name.size() == 3 && (name[0] | 0x20) == 'f' && (name[1] | 0x20) == 'o' && (name[2] | 0x20) == 'r';
}

// Past the next `separator` outside quotes.
std::string_view cut(std::string_view& rest, char separator) noexcept {
  bool quoted = false;
  std::size_t i = 0;
  for (; i < rest.size() && (quoted || rest[i] != separator); ++i) {
    if (rest[i] == '\\' && quoted)
      ++i;
    else if (rest[i] == '"')
      quoted = !quoted;
  }
  i = std::min(i, rest.size());
  const std::string_view piece = rest.substr(0, i);
  rest.remove_prefix(std::min(i + 1, rest.size()));
  return piece;
}

}  // namespace

// An odd number of quotes to the right of a comma would mean that it lies inside quotes. Whoever leaves a quote open
// gets nothing out of it: the element is unreadable, and the walk ends there.
std::optional<std::string_view> ListFromRight::next() noexcept {
  if (done_) return std::nullopt;
  bool quoted = false;
  std::size_t i = rest_.size();
  while (i > 0 && (quoted || rest_[i - 1] != ',')) {
    --i;
    if (rest_[i] == '"') quoted = !quoted;
  }
  const std::string_view element = trimmed(rest_.substr(i));
  done_ = i == 0;
  rest_ = rest_.substr(0, done_ ? 0 : i - 1);
  return element;
}

std::string_view for_parameter(std::string_view element) noexcept {
  while (!element.empty()) {
    const std::string_view pair = trimmed(cut(element, ';'));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && is_for(trimmed(pair.substr(0, equals)))) {
      return unquoted(trimmed(pair.substr(equals + 1)));
    }
  }
  return {};
}

std::optional<policy::Address> address_of_hop(std::string_view entry) noexcept {
  entry = unquoted(entry);
  if (!entry.empty() && entry.front() == '[') {
    const std::size_t close = entry.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    return policy::Address::parse(entry.substr(1, close - 1));
  }
  const std::size_t colon = entry.find(':');
  const bool has_port = colon != std::string_view::npos && entry.find(':', colon + 1) == std::string_view::npos;
  return policy::Address::parse(has_port ? entry.substr(0, colon) : entry);
}

}  // namespace weir::engine
