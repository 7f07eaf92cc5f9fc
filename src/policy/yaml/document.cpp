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

Node parse_document(const std::string& text) {
  const Places places(text);
  TreeBuilder builder(places);
  std::istringstream stream(text);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) throw Refused{{}, "the file is empty"};
    parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    throw Refused{places.at(static_cast<std::size_t>(std::max(error.mark.pos, 0))), complaint(error.msg)};
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
