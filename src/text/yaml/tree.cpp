#include "text/yaml/tree.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/node/node.h>  // parser.h only declares it, and clang-tidy mistakes our Node for it
#include <yaml-cpp/parser.h>

#include "text/utf8.h"

namespace weir::text {
namespace {

// yaml-cpp's names for "no tag": for quoted scalars, and for everything else.
constexpr std::string_view tag_of_quotes = "!";
constexpr std::string_view no_tag = "?";
constexpr std::string_view text_tag = "tag:yaml.org,2002:str";

void refuse_tag(Mark at, const std::string& tag) {
  constexpr std::string_view standard = "tag:yaml.org,2002:";
  const std::string written = tag.starts_with(standard) ? "!!" + tag.substr(standard.size()) : tag;
  throw Refused{at, fmt::format("the tag {} is not supported: leave it out", in_quotes(written))};
}

Node node_of(Node::Kind kind, Mark at) {
  Node node;
  node.kind = kind;
  node.at = at;
  return node;
}

// Reports the later of two equal keys.
void refuse_duplicates(const Node& map) {
  std::vector<const Member*> sorted;
  sorted.reserve(map.members.size());
  for (const Member& member : map.members) sorted.push_back(&member);
  std::ranges::sort(sorted, {},
                    [](const Member* member) { return std::pair(std::string_view(member->key.value), member); });
  const Member* second = nullptr;
  const Member* first = nullptr;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i - 1]->key.value != sorted[i]->key.value) continue;
    if (second != nullptr && second->key.at <= sorted[i]->key.at) continue;
    first = sorted[i - 1];
    second = sorted[i];
  }
  if (second == nullptr) return;
  throw Refused{second->key.at, fmt::format("duplicate key {}: first defined in line {}", in_quotes(second->key.value),
                                            first->key.at.line)};
}

// Builds a tree from yaml-cpp's events, within bounds: yaml-cpp calls back before each deeper level, so that excessive
// depth, size or recursion is rejected early.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const LineIndex& places) : places_(places) {}

  // The document, once complete.
  [[nodiscard]] Node take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) throw Refused{place(mark), "second document: a file must have only one"};
    started_ = true;
  }

  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const Mark at = place(mark);
    if (expects_key()) throw Refused{at, "a key must be text: put it in quotes"};
    charge(at, {1, 0, 1});
    // For a missing value, yaml-cpp reports the position of what follows.
    const bool valued = !open_.empty() && open_.back().key;
    Node node = node_of(Node::Kind::null, valued ? open_.back().key->at : at);
    keep(node, anchor);
    put(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const Mark at = place(mark);
    if (expects_key()) throw Refused{at, "a key must be text, not an alias"};
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) throw Refused{at, "recursive alias: it refers to a value that contains it"};
    charge(at, found->second.weight);
    Node node = found->second.node;
    node.at = at;
    put(std::move(node));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const Mark at = place(mark);
    if (tag != no_tag && tag != tag_of_quotes && tag != text_tag) refuse_tag(at, tag);
    charge(at, {1, value.size(), 1});
    Node node = node_of(Node::Kind::scalar, at);
    node.quoted = tag != no_tag;
    node.text = value;
    keep(node, anchor);
    put(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(Node::Kind::sequence, mark, tag, anchor);
  }

  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(Node::Kind::map, mark, tag, anchor);
  }

  void OnMapEnd() override { close(); }

 private:
  // An open list or map. For a map member the key comes first.
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    std::optional<Written<std::string>> key;
  };

  // The size of a node with everything in it.
  struct Weight {
    std::size_t nodes = 0;
    std::size_t bytes = 0;
    int height = 0;
  };

  struct Anchored {
    Node node;
    Weight weight;
  };

  [[nodiscard]] Mark place(const YAML::Mark& mark) const {
    return places_.at(static_cast<std::size_t>(std::max(mark.pos, 0)));
  }

  [[nodiscard]] bool expects_key() const { return !open_.empty() && open_.back().node.is_map() && !open_.back().key; }

  static Weight weigh(const Node& node) {
    Weight weight{1, node.text.size(), 1};
    const auto add = [&](const Node& child, std::size_t key) {
      const Weight more = weigh(child);
      weight.nodes += more.nodes;
      weight.bytes += more.bytes + key;
      weight.height = std::max(weight.height, more.height + 1);
    };
    for (const Node& item : node.items) add(item, 0);
    for (const Member& member : node.members) add(member.value, member.key.value.size());
    return weight;
  }

  void charge(Mark at, const Weight& weight) {
    nodes_ += weight.nodes;
    bytes_ += weight.bytes;
    if (nodes_ > max_nodes) {
      throw Refused{at, fmt::format("too many values: at most {} after aliases are expanded", max_nodes)};
    }
    if (bytes_ > 2 * max_bytes) {
      throw Refused{at, "too large: the text exceeds the limit after aliases are expanded"};
    }
    if (static_cast<int>(open_.size()) + weight.height > deepest + 1) {
      throw Refused{at, fmt::format("nested too deeply: at most {} levels", deepest)};
    }
  }

  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const Mark at = place(mark);
    if (expects_key())
      throw Refused{at, fmt::format("a key must be text, not {}: is a bracket left open?", name_of(kind))};
    if (!tag.empty() && tag != no_tag && tag != tag_of_quotes) refuse_tag(at, tag);
    charge(at, {1, 0, 2});
    open_.push_back({node_of(kind, at), anchor, {}});
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    if (closed.node.is_map()) refuse_duplicates(closed.node);
    keep(closed.node, closed.anchor);
    put(std::move(closed.node));
  }

  // Keeps a copy of an anchored node for its aliases. The copy also counts towards the bounds, because each of several
  // nested anchors is copied.
  void keep(const Node& node, YAML::anchor_t anchor) {
    if (anchor == YAML::NullAnchor) return;
    const Weight weight = weigh(node);
    charge(node.at, weight);
    anchored_[anchor] = {node, weight};
  }

  void put_key(const Node& node) {
    if (node.text == "<<" && !node.quoted) {
      throw Refused{node.at, "merge keys (<<) are not supported: write the fields out"};
    }
    open_.back().key = Written<std::string>{node.text, node.at};
  }

  void put(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (expects_key()) {
      put_key(node);
    } else if (Open& parent = open_.back(); parent.node.is_map()) {
      parent.node.members.push_back({std::move(*parent.key), std::move(node)});
      parent.key.reset();
    } else {
      parent.node.items.push_back(std::move(node));
    }
  }

  const LineIndex& places_;
  Node root_;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, Anchored> anchored_;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
  bool started_ = false;
};

// Clearer texts for the most common errors of yaml-cpp.
std::string reworded(const std::string& message) {
  static const std::array<std::pair<std::string_view, std::string_view>, 7> plain_text{{
      {YAML::ErrorMsg::MAP_VALUE,
       "unexpected ':': a value cannot begin here; quote text that contains ': ', and indent with spaces"},
      {YAML::ErrorMsg::END_OF_SEQ_FLOW,
       "a '[' is not closed: between brackets, text with any of []{}, in it needs quotes"},
      {YAML::ErrorMsg::END_OF_MAP_FLOW,
       "a '{' is not closed: between brackets, text with any of []{}, in it needs quotes"},
      {YAML::ErrorMsg::UNKNOWN_ANCHOR, "unknown anchor: an alias (*name) must come after its anchor (&name)"},
      {YAML::ErrorMsg::BLOCK_ENTRY, "unexpected '-': a list cannot begin here; indent with spaces"},
      {YAML::ErrorMsg::EOF_IN_SCALAR, "a quote is not closed"},
      {YAML::ErrorMsg::TAB_IN_INDENTATION, "a tab in the indentation: indent with spaces"},
  }};
  const auto* found = std::ranges::find_if(plain_text, [&](const auto& p) { return p.first == message; });
  return "not YAML: " + (found == plain_text.end() ? message : std::string(found->second));
}

// A line without its indentation.
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

// The line at `offset` and the previous line with content.
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

// True if the error is caused by a line's indentation.
bool is_indentation(const std::string& message, const TwoLines& lines, std::size_t offset) {
  if (message == YAML::ErrorMsg::END_OF_MAP || message == YAML::ErrorMsg::END_OF_SEQ) {
    return offset == lines.begin + lines.here.indentation;
  }
  const std::size_t key = lines.here.content.find_first_of(": \"'");
  const bool is_field = key != std::string_view::npos && lines.here.content.substr(key).starts_with(':');
  return message == YAML::ErrorMsg::MAP_VALUE && is_field && lines.here.indentation > lines.above.indentation &&
         !lines.above.is_blank();
}

Refused refusal(const YAML::Exception& error, const std::string& text, const LineIndex& places) {
  const auto offset = static_cast<std::size_t>(std::max(error.mark.pos, 0));
  const TwoLines lines = lines_at(text, offset);
  if (!is_indentation(error.msg, lines, offset)) return {places.at(offset), reworded(error.msg)};
  return {places.at(lines.begin + lines.here.indentation),
          "not YAML: wrong indentation: the fields of a map must start in the same column, and so must "
          "the items of a list"};
}

}  // namespace

LineIndex::LineIndex(std::string_view text) : lines_{0} {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') lines_.push_back(i + 1);
    if (continues_character(text[i])) within_ones_.push_back(i);
  }
}

Mark LineIndex::at(std::size_t offset) const noexcept {
  const auto line = std::prev(std::upper_bound(lines_.begin(), lines_.end(), offset));
  const auto from = std::lower_bound(within_ones_.begin(), within_ones_.end(), *line);
  const auto to = std::lower_bound(from, within_ones_.end(), offset);
  const auto bytes = static_cast<std::ptrdiff_t>(offset - *line);
  return {static_cast<int>(line - lines_.begin()) + 1, static_cast<int>(bytes - (to - from)) + 1};
}

Node parse_tree(const std::string& text) {
  const LineIndex places(text);
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

}  // namespace weir::text
