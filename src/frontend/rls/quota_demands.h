// The demands of the holders of one limit, ordered by size and then by the order in which the holders joined.
// A weight-balanced tree whose nodes store the count and the sum of the demands below them.
//
// Invariant: of two siblings, the heavier has at most three times the weight of the lighter. So every function visits
// O(log n) nodes (at most 2.5 log2 n), regardless of the order of insertions and removals. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::frontend {

class QuotaDemands {
 public:
  struct Demand {
    std::uint64_t units = 0;
    std::uint64_t holder = 0;

    friend auto operator<=>(const Demand&, const Demand&) = default;
  };

  // The count and the sum of the demands before a position.
  struct Prefix {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
  };

  QuotaDemands() : nodes_(1) {}

  [[nodiscard]] std::uint64_t count() const noexcept { return nodes_[root_].count; }
  [[nodiscard]] std::uint64_t sum() const noexcept { return nodes_[root_].sum; }

  // The demand must not be present.
  void insert(const Demand& demand) { root_ = insert_below(root_, demand); }
  // The demand must be present.
  void erase(const Demand& demand) { root_ = erase_below(root_, demand); }
  void clear();

  // The number of demands before `demand`, which need not be present.
  [[nodiscard]] std::uint64_t rank(const Demand& demand) const noexcept;

  // Returns the prefix before the first demand for which `holds(units, prefix)` is true. It must then be true for all
  // later demands.
  template <class Predicate>
  [[nodiscard]] Prefix before_first(const Predicate& holds) const {
    Prefix passed;
    for (Index at = root_; at != none;) {
      ++visited_;
      const Node& node = nodes_[at];
      const Prefix before{passed.count + nodes_[node.below[left]].count, passed.sum + nodes_[node.below[left]].sum};
      if (holds(node.demand.units, before)) {
        at = node.below[left];
      } else {
        passed = {before.count + 1, before.sum + node.demand.units};
        at = node.below[right];
      }
    }
    return passed;
  }

  // The number of nodes visited so far, for tests.
  [[nodiscard]] std::uint64_t visited() const noexcept { return visited_; }

 private:
  using Index = std::uint32_t;
  static constexpr Index none = 0;  // a sentinel node without weight
  enum Side : std::size_t { left, right };
  [[nodiscard]] static constexpr Side other(Side side) noexcept { return side == left ? right : left; }

  struct Node {
    Demand demand;
    std::uint64_t sum = 0;
    std::uint32_t count = 0;
    std::array<Index, 2> below{none, none};  // the children, indexed by Side
  };

  [[nodiscard]] Index insert_below(Index at, const Demand& demand);
  [[nodiscard]] Index erase_below(Index at, const Demand& demand);
  // Removes the first demand below `at` and stores it in `first`.
  [[nodiscard]] Index take_first(Index at, Demand& first);
  [[nodiscard]] Index balanced(Index at);
  // Makes the heavy child the root of the subtree.
  [[nodiscard]] Index rotated(Index at, Side heavy);
  void add_up(Index at) noexcept;
  void release(Index at);

  std::vector<Node> nodes_;
  std::vector<Index> free_;
  Index root_ = none;
  mutable std::uint64_t visited_ = 0;
};

}  // namespace weir::frontend
