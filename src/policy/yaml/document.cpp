#include "policy/yaml/document.h"

#include <algorithm>
#include <array>
#include <istream>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/node/node.h>  // parser.h only names it, and clang-tidy takes our Node for it
#include <yaml-cpp/parser.h>

#include "policy/yaml/encoding.h"
#include "policy/yaml/tree_builder.h"

namespace weir::policy::yaml {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_json(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

// yaml-cpp's commonest complaints, in words that say what to do.
std::string complaint(const std::string& message) {
  static const std::array<std::pair<std::string_view, std::string_view>, 7> plainly{{
      {YAML::ErrorMsg::MAP_VALUE, "a ':' where no value can begin: quote text that has ': ' in it, indent with spaces"},
      {YAML::ErrorMsg::END_OF_SEQ_FLOW,
       "a '[' is not closed: between brackets, text with any of []{}, in it needs quotes"},
      {YAML::ErrorMsg::END_OF_MAP_FLOW,
       "a '{' is not closed: between brackets, text with any of []{}, in it needs quotes"},
      {YAML::ErrorMsg::UNKNOWN_ANCHOR, "an alias (*name) whose anchor (&name) is not before it"},
      {YAML::ErrorMsg::BLOCK_ENTRY, "a '-' where no list can begin: indent with spaces"},
      {YAML::ErrorMsg::EOF_IN_SCALAR, "a quote is not closed"},
      {YAML::ErrorMsg::TAB_IN_INDENTATION, "a tab in the indentation: indent with spaces"},
  }};
  const auto* found = std::find_if(plainly.begin(), plainly.end(), [&](const auto& p) { return p.first == message; });
  return "not YAML: " + (found == plainly.end() ? message : std::string(found->second));
}

// A line of a text, without the spaces in front.
struct Line {
  std::size_t indentation = 0;
  std::string_view content;

  [[nodiscard]] bool is_blank() const noexcept { return content.empty() || content.starts_with('#'); }
};

Line line_at(std::string_view text, std::size_t begin) {
  std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  const std::size_t indentation = std::min(line.find_first_not_of(' '), line.size());
  return {indentation, line.substr(indentation)};
}

// The line at `offset` and the one above it that has something in it.
struct TwoLines {
  std::size_t begin = 0;
  Line here;
  Line above;
};

TwoLines lines_at(std::string_view text, std::size_t offset) {
  const auto begin_of = [&](std::size_t at) { return at == 0 ? 0 : text.rfind('\n', at - 1) + 1; };
  TwoLines lines;
  lines.begin = begin_of(std::min(offset, text.size()));
  lines.here = line_at(text, lines.begin);
  for (std::size_t begin = lines.begin; begin > 0 && lines.above.is_blank();) {
    begin = begin_of(begin - 1);
    lines.above = line_at(text, begin);
  }
  return lines;
}

// Whether what yaml-cpp stumbled over is a line further to the right or to the left than it may be.
bool is_indentation(const std::string& message, const TwoLines& lines, std::size_t offset) {
  if (message == YAML::ErrorMsg::END_OF_MAP || message == YAML::ErrorMsg::END_OF_SEQ) {
    return offset == lines.begin + lines.here.indentation;
  }
  const std::size_t key = lines.here.content.find_first_of(": \"'");
  const bool is_field = key != std::string_view::npos && lines.here.content.substr(key).starts_with(':');
  return message == YAML::ErrorMsg::MAP_VALUE && is_field && lines.here.indentation > lines.above.indentation &&
         !lines.above.is_blank();
}

Refused refusal(const YAML::Exception& error, const std::string& text, const Places& places) {
  const auto offset = static_cast<std::size_t>(std::max(error.mark.pos, 0));
  const TwoLines lines = lines_at(text, offset);
  if (!is_indentation(error.msg, lines, offset)) return {places.at(offset), complaint(error.msg)};
  return {
      places.at(lines.begin + lines.here.indentation),
      "not YAML: the indentation of this line fits none above it: the fields of a map begin in one column, and so do "
      "the items of a list"};
}

Node parse_document(const std::string& text) {
  const Places places(text);
  TreeBuilder builder(places);
  std::istringstream stream(text);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) throw Refused{{}, "the file is empty"};
    parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    throw refusal(error, text, places);
  }
  return builder.take_root();
}

}  // namespace

const Node* Node::find(std::string_view key) const noexcept {
  const auto found = std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.key.value == key; });
  return found == members.end() ? nullptr : &found->value;
}

std::optional<Node> parse(std::string_view text, Problems& problems) {
  if (text.size() > most_bytes) {
    problems.error({}, fmt::format("the file has more than {} bytes: that is the most", most_bytes));
    return {};
  }
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (const auto bad = find_bad_byte(text)) {
    problems.error(Places(text).at(bad->offset), bad->what);
    return {};
  }
  // yaml-cpp takes a quote that is not closed for one that is, if a line end is the last thing before the end.
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  try {
    Node root = parse_document(is_json(text) ? with_yaml_escapes(text) : std::string(text));
    if (!root.is_null()) return root;
    problems.error({}, "the file is empty");
  } catch (const Refused& refused) {
    problems.error(refused.at, refused.message);
  }
  return {};
}

std::string_view name_of(Node::Kind kind) noexcept {
  switch (kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return "text";
    case Node::Kind::sequence:
      return "a list";
    case Node::Kind::map:
      return "a map";
  }
  return "unknown";
}

}  // namespace weir::policy::yaml
