#include "text/yaml/document.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/core.h>

#include "base/number.h"
#include "text/utf8.h"
#include "text/yaml/tree.h"

namespace weir::text {
namespace {

struct BadByte {
  std::size_t offset = 0;
  std::string what;
};

// The first byte that is not UTF-8, or is NUL or another control character not allowed in text.
std::optional<BadByte> find_bad_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') {
      return BadByte{i, fmt::format("the control character 0x{:02x} is not allowed in text", byte)};
    }
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) return BadByte{i, fmt::format("the byte 0x{:02x} is not UTF-8: save the file as UTF-8", byte)};
    i += length;
  }
  return {};
}

// The code unit of the escape \uXXXX at the start.
std::optional<std::uint32_t> escaped_unit(std::string_view text) noexcept {
  constexpr std::size_t length = 6;
  if (text.size() < length || !text.starts_with("\\u")) return {};
  return base::parse_number<std::uint32_t>(text.substr(2, length - 2), 16);
}

// The character of the two escapes at the start.
std::optional<std::uint32_t> escaped_pair(std::string_view text) noexcept {
  const auto high = escaped_unit(text);
  if (!high || *high < 0xd800 || *high > 0xdbff) return {};
  const auto low = escaped_unit(text.substr(6));
  if (!low || *low < 0xdc00 || *low > 0xdfff) return {};
  return 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00);
}

// Rewrites surrogate pairs of JSON (\ud83d\ude00), which YAML does not have, as YAML escapes. The result is two bytes
// shorter for each pair, so later columns in the same line are reported too low.
std::string with_yaml_escapes(std::string_view json) {
  std::string yaml;
  yaml.reserve(json.size());
  for (std::size_t i = 0; i < json.size();) {
    if (json[i] != '\\') {
      yaml += json[i++];
    } else if (const auto character = escaped_pair(json.substr(i))) {
      yaml += fmt::format("\\U{:08x}", *character);
      i += 12;
    } else {
      // A backslash and the character it escapes, which may be another backslash.
      yaml += json.substr(i, 2);
      i += 2;
    }
  }
  return yaml;
}

bool is_json(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

}  // namespace

const Node* Node::find(std::string_view key) const noexcept {
  const auto found = std::ranges::find_if(members, [&](const Member& m) { return m.key.value == key; });
  return found == members.end() ? nullptr : &found->value;
}

std::optional<Node> parse_yaml(std::string_view text, Problems& problems) {
  if (text.size() > max_bytes) {
    problems.error({}, "the file is too large: at most {} MiB", max_bytes >> 20);
    return {};
  }
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (const auto bad = find_bad_byte(text)) {
    problems.error(LineIndex(text).at(bad->offset), bad->what);
    return {};
  }
  // yaml-cpp accepts an unclosed quote if the text ends in a line end.
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  try {
    Node root = parse_tree(is_json(text) ? with_yaml_escapes(text) : std::string(text));
    if (!root.is_null()) return root;
    problems.error({}, "the file is empty");
  } catch (const Refused& refused) {
    problems.error(refused.at, refused.message);
  }
  return {};
}

std::string_view name_of(Node::Kind kind) noexcept {
  static constexpr std::array<std::string_view, 4> words{"nothing", "text", "a list", "a map"};
  return words[static_cast<std::size_t>(kind)];
}

Result<std::string> read_text_file(const std::filesystem::path& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  const auto unreadable = [&] {
    return failure(path.string(), "cannot be read: " + std::generic_category().message(errno));
  };
  if (file == nullptr) return unreadable();
  std::string text(max_bytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable();
  return text;
}

}  // namespace weir::text
