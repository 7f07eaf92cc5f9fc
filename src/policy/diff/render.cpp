#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/core.h>

#include "policy/diff.h"
#include "wire/json_text.h"

namespace weir::policy {
namespace {

constexpr std::array directions{Direction::tighter, Direction::looser, Direction::different, Direction::neutral};

std::ptrdiff_t count(const std::vector<Change>& changes, Direction direction) {
  return std::count_if(changes.begin(), changes.end(),
                       [&](const Change& change) { return change.direction == direction; });
}

// Names come from the policy, and the page on which this is shown is not the policy's.
std::string markdown_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool begins_link = text.substr(i).starts_with("://");
    if (byte < 0x20 || byte == 0x7F) {
      out += ' ';
    } else if (begins_link || std::string_view{"<&@|#"}.find(c) != std::string_view::npos) {
      out += fmt::format("&#{};", static_cast<unsigned>(byte));
    } else if (std::string_view{"\\`*_[]~"}.find(c) != std::string_view::npos) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view told(Direction direction) {
  return direction == Direction::neutral ? "" : name_of(direction);
}

}  // namespace

std::string_view name_of(Direction direction) noexcept {
  switch (direction) {
    case Direction::tighter:
      return "tighter";
    case Direction::looser:
      return "looser";
    case Direction::different:
      return "different";
    case Direction::neutral:
      break;
  }
  return "neutral";
}

std::string render_text(const std::vector<Change>& changes) {
  if (changes.empty()) return "nothing changes\n";
  std::string text;
  for (const Change& change : changes) {
    text += fmt::format("{}: {}", change.subject, change.sentence);
    if (change.direction != Direction::neutral) text += fmt::format(" ({})", name_of(change.direction));
    text += '\n';
  }
  return text;
}

std::string render_markdown(const std::vector<Change>& changes) {
  if (changes.empty()) return "Nothing changes.\n";
  std::string text = "**";
  for (const Direction direction : directions) {
    if (const auto number = count(changes, direction); number > 0) {
      if (text.size() > 2) text += ", ";
      text += fmt::format("{} {}", number, name_of(direction));
    }
  }
  text += "**\n\n| limit | change | |\n|---|---|---|\n";
  for (const Change& change : changes) {
    text += fmt::format("| {} | {} | {} |\n", markdown_text(change.subject), markdown_text(change.sentence),
                        told(change.direction));
  }
  return text;
}

std::string render_json(const std::vector<Change>& changes) {
  std::string text = "{\"changes\": [";
  for (const Change& change : changes) {
    if (&change != &changes.front()) text += ", ";
    text += fmt::format("{{\"subject\": {}, \"sentence\": {}, \"direction\": {}}}", wire::json_text(change.subject),
                        wire::json_text(change.sentence), wire::json_text(name_of(change.direction)));
  }
  text += "]";
  for (const Direction direction : directions) {
    text += fmt::format(", \"{}\": {}", name_of(direction), count(changes, direction));
  }
  return text + "}\n";
}

}  // namespace weir::policy
