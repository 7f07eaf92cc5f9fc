// Builds a RouteTree: first as nodes with maps of children, then as a flat table.
#include <algorithm>
#include <map>
#include <tuple>

#include "match/route_tree.h"

namespace weir::match {
namespace {

// Returns a text that sorts more specific routes first. A route that ends is shorter than one with `**`, so it comes
// first.
std::string shape(const policy::RouteTemplate& route) {
  std::string kinds;
  for (const policy::Segment& segment : route.segments) kinds += segment.is_literal() ? 'a' : 'b';
  if (route.trailing_wildcard) kinds += 'c';
  return kinds;
}

int method_order(const policy::RouteTemplate& route) {
  if (!route.method) return 2;
  return *route.method == "HEAD" ? 0 : 1;
}

std::vector<std::uint32_t> ranks_of(std::span<const RouteEntry> entries) {
  using Key = std::tuple<std::string, int, std::uint32_t>;
  std::vector<Key> keys;
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    keys.emplace_back(shape(entries[i].route), method_order(entries[i].route), i);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> ranks(entries.size());
  for (std::uint32_t rank = 0; rank < keys.size(); ++rank) ranks[std::get<2>(keys[rank])] = rank;
  return ranks;
}

}  // namespace

class RouteTreeBuilder {
 public:
  explicit RouteTreeBuilder(std::span<const RouteEntry> entries) : entries_(entries) {}

  RouteTree build() {
    tree_.ranks_ = ranks_of(entries_);
    for (std::uint32_t i = 0; i < entries_.size(); ++i) add(i);
    lay_out();
    list_everything();
    return std::move(tree_);
  }

 private:
  using Node = RouteTree::Node;
  static constexpr std::uint32_t none = RouteTree::none;

  struct Draft {
    std::map<std::string, std::uint32_t, std::less<>> literals;
    std::uint32_t parameter = none;
    std::vector<std::uint32_t> ends;  // entries of the routes that end here
    std::vector<std::uint32_t> wildcards;
  };

  std::uint32_t add_draft() {
    drafts_.emplace_back();
    return static_cast<std::uint32_t>(drafts_.size() - 1);
  }

  void add(std::uint32_t entry) {
    const policy::RouteTemplate& route = entries_[entry].route;
    std::uint32_t at = 0;
    for (const policy::Segment& segment : route.segments) at = child(at, segment);
    (route.trailing_wildcard ? drafts_[at].wildcards : drafts_[at].ends).push_back(entry);
    tree_.limits_ = std::max<std::size_t>(tree_.limits_, std::size_t{entries_[entry].limit} + 1);
    if (route.method && tree_.number_of(*route.method) == RouteTree::unknown_method) {
      tree_.methods_.push_back({segment_hash(*route.method), *route.method});
    }
  }

  std::uint32_t child(std::uint32_t parent, const policy::Segment& segment) {
    if (segment.is_literal()) {
      const auto known = drafts_[parent].literals.find(segment.key);
      if (known != drafts_[parent].literals.end()) return known->second;
      const std::uint32_t made = add_draft();
      drafts_[parent].literals.emplace(segment.key, made);
      ++literals_;
      return made;
    }
    if (drafts_[parent].parameter == none) {
      const std::uint32_t made = add_draft();
      drafts_[parent].parameter = made;
    }
    return drafts_[parent].parameter;
  }

  // Parents come before children, since a child's slot depends on its parent's. A third of the table stays empty, so
  // that lookups are short and the table fits in cache.
  void lay_out() {
    tree_.slots_ = literals_ + literals_ / 2 + 1;
    tree_.nodes_.resize(tree_.slots_);
    tree_.root_ = append_node(none);
    struct Inserted {
      std::uint32_t draft;
      std::uint32_t node;
    };
    std::vector<Inserted> queue{{0, tree_.root_}};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto [draft, node] = queue[i];
      lay_out_terminals(drafts_[draft], tree_.nodes_[node]);
      if (drafts_[draft].parameter != none) {
        const std::uint32_t parameter = append_node(node);
        tree_.nodes_[node].parameter = parameter;
        queue.push_back({drafts_[draft].parameter, parameter});
      }
      for (const auto& [text, literal] : drafts_[draft].literals) queue.push_back({literal, insert(node, text)});
    }
  }

  std::uint32_t append_node(std::uint32_t parent) {
    tree_.nodes_.push_back({.parent = parent});
    return static_cast<std::uint32_t>(tree_.nodes_.size() - 1);
  }

  std::uint32_t insert(std::uint32_t parent, const std::string& text) {
    const std::uint64_t hash = segment_hash(text);
    std::size_t i = tree_.home(parent, hash);
    while (tree_.nodes_[i].parent != none) i = tree_.after(i);
    tree_.nodes_[parent].filter |= RouteTree::filter_bit(hash);
    tree_.nodes_[i].parent = parent;
    tree_.nodes_[i].tag = static_cast<std::uint32_t>(hash);
    tree_.nodes_[i].text = intern(text);
    tree_.nodes_[i].length = static_cast<std::uint16_t>(text.size());
    return static_cast<std::uint32_t>(i);
  }

  std::uint32_t intern(const std::string& text) {
    const auto [known, is_new] = interned_.try_emplace(text, static_cast<std::uint32_t>(tree_.texts_.size()));
    if (is_new) tree_.texts_ += text;
    return known->second;
  }

  void lay_out_terminals(Draft& draft, Node& node) {
    node.first = static_cast<std::uint32_t>(tree_.terminals_.size());
    node.ends = append_terminals(draft.ends);
    node.wildcards = append_terminals(draft.wildcards);
  }

  std::uint32_t append_terminals(std::vector<std::uint32_t>& entries) {
    std::sort(entries.begin(), entries.end(),
              [&](std::uint32_t a, std::uint32_t b) { return tree_.ranks_[a] < tree_.ranks_[b]; });
    for (const std::uint32_t entry : entries) {
      tree_.terminals_.push_back({{entries_[entry].limit, entry}, tree_.ranks_[entry], method_of(entry)});
    }
    return static_cast<std::uint32_t>(entries.size());
  }

  [[nodiscard]] std::uint16_t method_of(std::uint32_t entry) const {
    const auto& method = entries_[entry].route.method;
    return method ? tree_.number_of(*method) : RouteTree::any_method;
  }

  void list_everything() {
    std::vector<std::tuple<std::uint32_t, std::uint16_t, std::uint32_t>> all;
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      all.emplace_back(entries_[i].limit, method_of(i), entries_[i].counts_apart ? i : no_route);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (const auto& [limit, method, route] : all) {
      tree_.everything_.push_back({{limit, route}, UINT32_MAX, method});
    }
  }

  std::span<const RouteEntry> entries_;
  std::vector<Draft> drafts_{1};  // the first is the root
  std::size_t literals_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> interned_;
  RouteTree tree_;
};

RouteTree RouteTree::build(std::span<const RouteEntry> entries) {
  return RouteTreeBuilder(entries).build();
}

}  // namespace weir::match
