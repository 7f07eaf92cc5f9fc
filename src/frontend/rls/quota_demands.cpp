#include "frontend/rls/quota_demands.h"

namespace weir::frontend {
namespace {

// Hirai and Yamamoto, "Balancing weight-balanced trees": with these parameters, one rotation restores the balance after
// an insertion or a removal.
constexpr std::uint32_t max_imbalance = 3;
constexpr std::uint32_t single_rotation = 2;

}  // namespace

void QuotaDemands::clear() {
  nodes_.assign(1, Node{});
  free_.clear();
  root_ = none;
}

std::uint64_t QuotaDemands::rank(const Demand& demand) const noexcept {
  std::uint64_t before = 0;
  for (Index at = root_; at != none;) {
    ++visited_;
    const Node& node = nodes_[at];
    if (node.demand < demand) {
      before += nodes_[node.below[left]].count + 1;
      at = node.below[right];
    } else {
      at = node.below[left];
    }
  }
  return before;
}

QuotaDemands::Index QuotaDemands::insert_below(Index at, const Demand& demand) {
  if (at == none) {
    Index made = none;
    if (free_.empty()) {
      made = static_cast<Index>(nodes_.size());
      nodes_.emplace_back();
    } else {
      made = free_.back();
      free_.pop_back();
    }
    nodes_[made] = {.demand = demand, .sum = demand.units, .count = 1};
    return made;
  }
  ++visited_;
  const Side side = demand < nodes_[at].demand ? left : right;
  const Index below = insert_below(nodes_[at].below[side], demand);  // may move the nodes
  nodes_[at].below[side] = below;
  return balanced(at);
}

QuotaDemands::Index QuotaDemands::erase_below(Index at, const Demand& demand) {
  if (at == none) return none;
  ++visited_;
  Node& node = nodes_[at];
  if (node.demand != demand) {
    const Side side = demand < node.demand ? left : right;
    node.below[side] = erase_below(node.below[side], demand);
    return balanced(at);
  }
  const auto [smaller, larger] = node.below;
  if (smaller == none || larger == none) {
    release(at);
    return smaller == none ? larger : smaller;
  }
  node.below[right] = take_first(larger, node.demand);
  return balanced(at);
}

QuotaDemands::Index QuotaDemands::take_first(Index at, Demand& first) {
  ++visited_;
  Node& node = nodes_[at];
  if (node.below[left] == none) {
    first = node.demand;
    const Index larger = node.below[right];
    release(at);
    return larger;
  }
  node.below[left] = take_first(node.below[left], first);
  return balanced(at);
}

QuotaDemands::Index QuotaDemands::balanced(Index at) {
  const auto weight = [&](Index of, Side side) { return nodes_[nodes_[of].below[side]].count; };
  if (weight(at, left) + weight(at, right) > 1) {
    for (const Side heavy : {left, right}) {
      const Side light = other(heavy);
      if (weight(at, heavy) <= max_imbalance * weight(at, light)) continue;
      const Index top = nodes_[at].below[heavy];
      if (weight(top, light) >= single_rotation * weight(top, heavy)) nodes_[at].below[heavy] = rotated(top, light);
      return rotated(at, heavy);
    }
  }
  add_up(at);
  return at;
}

QuotaDemands::Index QuotaDemands::rotated(Index at, Side heavy) {
  const Index top = nodes_[at].below[heavy];
  nodes_[at].below[heavy] = nodes_[top].below[other(heavy)];
  nodes_[top].below[other(heavy)] = at;
  add_up(at);
  add_up(top);
  return top;
}

void QuotaDemands::add_up(Index at) noexcept {
  Node& node = nodes_[at];
  const Node& smaller = nodes_[node.below[left]];
  const Node& larger = nodes_[node.below[right]];
  node.count = smaller.count + larger.count + 1;
  node.sum = smaller.sum + larger.sum + node.demand.units;
}

void QuotaDemands::release(Index at) {
  free_.push_back(at);
}

}  // namespace weir::frontend
