#include "frontend/rls/quota_demands.h"

namespace weir::frontend {
namespace {

// Hirai and Yamamoto, "Balancing weight-balanced trees": with these two, one rotation restores the balance after an
// insertion or a removal.
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
      before += nodes_[node.left].count + 1;
      at = node.right;
    } else {
      at = node.left;
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
  if (demand < nodes_[at].demand) {
    const Index below = insert_below(nodes_[at].left, demand);  // may move the nodes
    nodes_[at].left = below;
  } else {
    const Index below = insert_below(nodes_[at].right, demand);
    nodes_[at].right = below;
  }
  return balanced(at);
}

QuotaDemands::Index QuotaDemands::erase_below(Index at, const Demand& demand) {
  if (at == none) return none;
  ++visited_;
  Node& node = nodes_[at];
  if (demand < node.demand) {
    node.left = erase_below(node.left, demand);
    return balanced(at);
  }
  if (node.demand < demand) {
    node.right = erase_below(node.right, demand);
    return balanced(at);
  }
  const Index left = node.left;
  const Index right = node.right;
  if (left == none || right == none) {
    release(at);
    return left == none ? right : left;
  }
  node.right = take_first(right, node.demand);
  return balanced(at);
}

QuotaDemands::Index QuotaDemands::take_first(Index at, Demand& first) {
  ++visited_;
  Node& node = nodes_[at];
  if (node.left == none) {
    first = node.demand;
    const Index right = node.right;
    release(at);
    return right;
  }
  node.left = take_first(node.left, first);
  return balanced(at);
}

QuotaDemands::Index QuotaDemands::balanced(Index at) {
  const Index left = nodes_[at].left;
  const Index right = nodes_[at].right;
  const std::uint32_t left_count = nodes_[left].count;
  const std::uint32_t right_count = nodes_[right].count;
  if (left_count + right_count > 1) {
    if (right_count > max_imbalance * left_count) {
      const Node& heavy = nodes_[right];
      if (nodes_[heavy.left].count >= single_rotation * nodes_[heavy.right].count) {
        nodes_[at].right = rotated_right(right);
      }
      return rotated_left(at);
    }
    if (left_count > max_imbalance * right_count) {
      const Node& heavy = nodes_[left];
      if (nodes_[heavy.right].count >= single_rotation * nodes_[heavy.left].count) {
        nodes_[at].left = rotated_left(left);
      }
      return rotated_right(at);
    }
  }
  add_up(at);
  return at;
}

QuotaDemands::Index QuotaDemands::rotated_left(Index at) {
  const Index top = nodes_[at].right;
  nodes_[at].right = nodes_[top].left;
  nodes_[top].left = at;
  add_up(at);
  add_up(top);
  return top;
}

QuotaDemands::Index QuotaDemands::rotated_right(Index at) {
  const Index top = nodes_[at].left;
  nodes_[at].left = nodes_[top].right;
  nodes_[top].right = at;
  add_up(at);
  add_up(top);
  return top;
}

void QuotaDemands::add_up(Index at) noexcept {
  Node& node = nodes_[at];
  const Node& left = nodes_[node.left];
  const Node& right = nodes_[node.right];
  node.count = left.count + right.count + 1;
  node.sum = left.sum + right.sum + node.demand.units;
}

void QuotaDemands::release(Index at) {
  free_.push_back(at);
}

}  // namespace weir::frontend
