// The rules of lint.h, and the index of routes that they search. Only lint.cpp calls them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "policy/ruleset.h"
#include "policy/spec.h"

namespace weir::policy::lint_rules {

// All routes of a policy, to find those that cover or overlap a given one without comparing every pair: a document
// of ten thousand operations is linted whenever it is loaded.
class RouteIndex {
 public:
  // A limit without routes is found under `/**`. Routes that are only known, or have a cost, have no limit.
  struct Entry {
    RouteTemplate route;
    const CompiledLimit* limit = nullptr;
  };

  using Predicate = std::function<bool(const Entry&)>;

  explicit RouteIndex(const Ruleset& ruleset);

  // The first entry that covers `route`, or matches some request that `route` matches, and meets the predicate;
  // nullptr if there is none.
  [[nodiscard]] const Entry* find_covering(const RouteTemplate& route, const Predicate& predicate) const;
  [[nodiscard]] const Entry* find_overlapping(const RouteTemplate& route, const Predicate& predicate) const;

  [[nodiscard]] static RouteTemplate every_request();
  // `/**` where it has none.
  [[nodiscard]] static std::vector<RouteTemplate> routes_of(const CompiledLimit& limit);

 private:
  struct Node {
    std::map<std::string, std::size_t> literals;  // by Segment::key; of nodes_
    std::size_t parameter = 0;                    // 0: none
    std::vector<Entry> entries;                   // that end here, with a `**` or without
  };

  void add(const RouteTemplate& route, const CompiledLimit* limit);
  [[nodiscard]] std::size_t child(std::size_t node, const Segment& segment);
  [[nodiscard]] std::vector<std::size_t> next(const Node& node, const Segment* segment, bool covering) const;
  [[nodiscard]] const Entry* find(const RouteTemplate& route, bool covering, const Predicate& predicate) const;

  std::vector<Node> nodes_{1};
};

// One limit, as written and as compiled, among all others.
struct Subject {
  const PolicySpec& policy;
  const Ruleset& ruleset;
  const RouteIndex& index;
  const LimitSpec& written;
  const CompiledLimit& limit;
  std::uint64_t nodes;  // that share the store
};

// The numbers for one tier, as written and as compiled.
struct TierNumbers {
  std::string who;
  Mark at;
  std::string rate;             // as it is written
  std::uint64_t own_count = 0;  // what it brings in the period it is written with
  Limit limit;
};

// The limit's own, and those of the tiers that have others.
[[nodiscard]] std::vector<TierNumbers> all_numbers(const Subject& subject);

// lint_rules.cpp: whom a limit counts.
void ip_alone(const Subject& subject, Problems& problems);
void chosen_key(const Subject& subject, Problems& problems);
void penalty_on_chosen_key(const Subject& subject, Problems& problems);
void raw_path(const Subject& subject, Problems& problems);
void raw_path(const DescriptorSpec& descriptor, Problems& problems);
void unlabelled(const DescriptorSpec& descriptor, Problems& problems);

// lint_rules.cpp: how it counts.
void fixed_window_on_writes(const Subject& subject, Problems& problems);
void unread_tiers(const Subject& subject, Problems& problems);
void odd_burst(const Subject& subject, Problems& problems);
void without_effect_in_shadow(const Subject& subject, Problems& problems);

// lint_consistency.cpp: how nodes count it together.
void consistency(const Subject& subject, Problems& problems);

// lint_receipts.cpp: what callers tell of their costs, and what they hold.
void usage(const Subject& subject, Problems& problems);
void receipt_size(const Subject& subject, Problems& problems);

// True if entries that meet the predicate cover all routes of the limit.
[[nodiscard]] bool is_covered(const Subject& subject, const RouteIndex::Predicate& predicate);

// Where the key was written, or the limit.
[[nodiscard]] Mark place_of_key(const LimitSpec& written);

}  // namespace weir::policy::lint_rules
