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
#include <yaml-cpp/node/node.h>  // parser.h only names it, and clang-tidy takes our Node for it
#include <yaml-cpp/parser.h>

#include "text/utf8.h"

namespace weir::text {
namespace {

// yaml-cpp's names for "no tag": on what is in quotes, and on all else.
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

// Both places of a key that is there twice; the later one is the mistake.
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
  throw Refused{second->key.at, fmt::format("{} is here twice: the first is in line {}", in_quotes(second->key.value),
                                            first->key.at.line)};
}

// Puts the events of yaml-cpp together to a tree, within bounds: yaml-cpp asks back before it goes one level deeper,
// so that what is too deep, too much or a cycle ends here and not in memory.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const Places& places) : places_(places) {}

  // The document, once it has ended.
  [[nodiscard]] Node take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (begun_) throw Refused{place(mark), "a second document begins here: a file holds one"};
    begun_ = true;
  }

  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const Mark at = place(mark);
    if (wants_key()) throw Refused{at, "a key has to be text: put it in quotes"};
    charge(at, {1, 0, 1});
    // yaml-cpp gives what follows as the place of a value that is not there.
    const bool valued = !open_.empty() && open_.back().key;
    Node node = node_of(Node::Kind::null, valued ? open_.back().key->at : at);
    keep(node, anchor);
    put(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const Mark at = place(mark);
    if (wants_key()) throw Refused{at, "a key has to be text, not an alias"};
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) throw Refused{at, "an alias inside of what it stands for: that would never end"};
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
  // A list or map that has begun. Of a map's member the key comes first.
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    std::optional<Written<std::string>> key;
  };

  // What a node adds to the tree.
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

  [[nodiscard]] bool wants_key() const { return !open_.empty() && open_.back().node.is_map() && !open_.back().key; }

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
      throw Refused{at, fmt::format("too much: more than {} values, those behind anchors and aliases counted each time",
                                    max_nodes)};
    }
    if (bytes_ > 2 * max_bytes) {
      throw Refused{at, "too much: the text behind anchors and aliases, counted each time, is beyond all measure"};
    }
    if (static_cast<int>(open_.size()) + weight.height > deepest + 1) {
      throw Refused{at, fmt::format("nested too deeply: at most {} levels", deepest)};
    }
  }

  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const Mark at = place(mark);
    if (wants_key())
      throw Refused{at, fmt::format("a key has to be text, not {}: is a bracket left open?", name_of(kind))};
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

  // The copy is charged too: anchors within anchors are copied once for each.
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
    } else if (wants_key()) {
      put_key(node);
    } else if (Open& parent = open_.back(); parent.node.is_map()) {
      parent.node.members.push_back({std::move(*parent.key), std::move(node)});
      parent.key.reset();
    } else {
      parent.node.items.push_back(std::move(node));
    }
  }

  const Places& places_;
  Node root_;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, Anchored> anchored_;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
  bool begun_ = false;
};

// yaml-cpp's commonest complaints, in words that say what to do.
std::string complaint(const std::string& message) {
  static const std::array<std::pair<std::string_view, std::string_view>, 7> plain_text{{
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
  const auto* found = std::ranges::find_if(plain_text, [&](const auto& p) { return p.first == message; });
  return "not YAML: " + (found == plain_text.end() ? message : std::string(found->second));
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

}  // namespace

Places::Places(std::string_view text) : lines_{0} {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') lines_.push_back(i + 1);
    if (continues_character(text[i])) within_ones_.push_back(i);
  }
}

Mark Places::at(std::size_t offset) const noexcept {
  const auto line = std::prev(std::upper_bound(lines_.begin(), lines_.end(), offset));
  const auto from = std::lower_bound(within_ones_.begin(), within_ones_.end(), *line);
  const auto to = std::lower_bound(from, within_ones_.end(), offset);
  const auto bytes = static_cast<std::ptrdiff_t>(offset - *line);
  return {static_cast<int>(line - lines_.begin()) + 1, static_cast<int>(bytes - (to - from)) + 1};
}

Node parse_tree(const std::string& text) {
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

}  // namespace weir::text
