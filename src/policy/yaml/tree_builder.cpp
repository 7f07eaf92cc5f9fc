#include "policy/yaml/tree_builder.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <yaml-cpp/mark.h>

#include "policy/scalar.h"

namespace weir::policy::yaml {
namespace {

// yaml-cpp's names for "no tag": on what is in quotes, and on all else.
constexpr std::string_view of_quotes = "!";
constexpr std::string_view none = "?";
constexpr std::string_view text = "tag:yaml.org,2002:str";

void refuse_tag(Mark at, const std::string& tag) {
  constexpr std::string_view standard = "tag:yaml.org,2002:";
  const std::string written = tag.starts_with(standard) ? "!!" + tag.substr(standard.size()) : tag;
  throw Refused{at, fmt::format("the tag {} is not supported: leave it out", quoted(written))};
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
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Member* a, const Member* b) { return a->key.value < b->key.value; });
  const Member* second = nullptr;
  const Member* first = nullptr;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i - 1]->key.value != sorted[i]->key.value) continue;
    if (second != nullptr && second->key.at <= sorted[i]->key.at) continue;
    first = sorted[i - 1];
    second = sorted[i];
  }
  if (second == nullptr) return;
  throw Refused{second->key.at, fmt::format("{} is here twice: the first is in line {}", quoted(second->key.value),
                                            first->key.at.line)};
}

}  // namespace

Mark TreeBuilder::place(const YAML::Mark& mark) const {
  return places_.at(static_cast<std::size_t>(std::max(mark.pos, 0)));
}

TreeBuilder::Weight TreeBuilder::weigh(const Node& node) {
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

void TreeBuilder::charge(Mark at, const Weight& weight) {
  nodes_ += weight.nodes;
  bytes_ += weight.bytes;
  if (nodes_ > most_nodes) {
    throw Refused{at, fmt::format("too much: more than {} values, those behind anchors and aliases counted each time",
                                  most_nodes)};
  }
  if (bytes_ > 2 * most_bytes) {
    throw Refused{at, "too much: the text behind anchors and aliases, counted each time, is beyond all measure"};
  }
  if (static_cast<int>(open_.size()) + weight.height > deepest + 1) {
    throw Refused{at, fmt::format("nested too deeply: at most {} levels", deepest)};
  }
}

void TreeBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (begun_) throw Refused{place(mark), "a second document begins here: a file holds one"};
  begun_ = true;
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const Mark at = place(mark);
  if (wants_key()) throw Refused{at, "a key has to be text: put it in quotes"};
  charge(at, {1, 0, 1});
  // yaml-cpp gives what follows as the place of a value that is not there.
  const bool valued = !open_.empty() && open_.back().key;
  Node node = node_of(Node::Kind::null, valued ? open_.back().key->at : at);
  keep(node, anchor);
  put(std::move(node));
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const Mark at = place(mark);
  if (wants_key()) throw Refused{at, "a key has to be text, not an alias"};
  const auto found = anchored_.find(anchor);
  if (found == anchored_.end()) throw Refused{at, "an alias inside of what it stands for: that would never end"};
  charge(at, found->second.weight);
  Node node = found->second.node;
  node.at = at;
  put(std::move(node));
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  const Mark at = place(mark);
  if (tag != none && tag != of_quotes && tag != text) refuse_tag(at, tag);
  charge(at, {1, value.size(), 1});
  Node node = node_of(Node::Kind::scalar, at);
  node.quoted = tag != none;
  node.text = value;
  keep(node, anchor);
  put(std::move(node));
}

void TreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                                  YAML::EmitterStyle::value /*style*/) {
  open(Node::Kind::sequence, mark, tag, anchor);
}

void TreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value /*style*/) {
  open(Node::Kind::map, mark, tag, anchor);
}

void TreeBuilder::open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
  const Mark at = place(mark);
  if (wants_key())
    throw Refused{at, fmt::format("a key has to be text, not {}: is a bracket left open?", name_of(kind))};
  if (!tag.empty() && tag != none && tag != of_quotes) refuse_tag(at, tag);
  charge(at, {1, 0, 2});
  open_.push_back({node_of(kind, at), anchor, {}});
}

void TreeBuilder::close() {
  Open closed = std::move(open_.back());
  open_.pop_back();
  if (closed.node.is_map()) refuse_duplicates(closed.node);
  keep(closed.node, closed.anchor);
  put(std::move(closed.node));
}

// The copy is charged too: anchors within anchors are copied once for each.
void TreeBuilder::keep(const Node& node, YAML::anchor_t anchor) {
  if (anchor == YAML::NullAnchor) return;
  const Weight weight = weigh(node);
  charge(node.at, weight);
  anchored_[anchor] = {node, weight};
}

void TreeBuilder::put_key(const Node& node) {
  if (node.text == "<<" && !node.quoted) {
    throw Refused{node.at, "merge keys (<<) are not supported: write the fields out"};
  }
  open_.back().key = Written<std::string>{node.text, node.at};
}

void TreeBuilder::put(Node node) {
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

}  // namespace weir::policy::yaml
