// The lint rules, and the index of routes that they search. Only lint.cpp calls them.
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

// Finds the routes of a policy that cover or overlap a given one without comparing every pair: a document of ten
// thousand operations is linted whenever it is loaded.
class RouteIndex {
 public:
  // A limit without routes is indexed as `/**`. Routes of labels and costs have no limit.
  struct Entry {
    RouteTemplate route;
    const CompiledLimit* limit = nullptr;
  };

  using Predicate = std::function<bool(const Entry&)>;

  explicit RouteIndex(const Ruleset& ruleset);

  // Return the first entry that covers `route`, or overlaps it, and meets the predicate; nullptr if none.
  [[nodiscard]] const Entry* find_covering(const RouteTemplate& route, const Predicate& predicate) const;
  [[nodiscard]] const Entry* find_overlapping(const RouteTemplate& route, const Predicate& predicate) const;

  [[nodiscard]] static RouteTemplate every_request();
  // Returns `/**` for a limit without routes.
  [[nodiscard]] static std::vector<RouteTemplate> routes_of(const CompiledLimit& limit);

 private:
  struct Node {
    std::map<std::string, std::size_t> literals;  // Segment::key -> index in nodes_
    std::size_t parameter = 0;                    // 0: none
    std::vector<Entry> entries;                   // routes that end here, with or without `**`
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
  std::uint64_t nodes;  // number of nodes that share the store
};

// The numbers for one tier, as written and as compiled.
struct TierNumbers {
  std::string who;
  Mark at;
  std::string rate;             // as it is written
  std::uint64_t own_count = 0;  // the count in the period as written
  Limit limit;
};

// Returns the limit's own numbers, and those of tiers with overrides.
[[nodiscard]] std::vector<TierNumbers> all_numbers(const Subject& subject);

// lint_rules.cpp: rules about keys.
void ip_alone(const Subject& subject, Problems& problems);
void chosen_key(const Subject& subject, Problems& problems);
void penalty_on_chosen_key(const Subject& subject, Problems& problems);
void raw_path(const Subject& subject, Problems& problems);
void raw_path(const DescriptorSpec& descriptor, Problems& problems);
void unlabelled(const DescriptorSpec& descriptor, Problems& problems);

// lint_rules.cpp: rules about algorithms and numbers.
void fixed_window_on_writes(const Subject& subject, Problems& problems);
void unread_tiers(const Subject& subject, Problems& problems);
void odd_burst(const Subject& subject, Problems& problems);
void without_effect_in_shadow(const Subject& subject, Problems& problems);

// Defined in lint_consistency.cpp.
void consistency(const Subject& subject, Problems& problems);

// Defined in lint_receipts.cpp.
void usage(const Subject& subject, Problems& problems);
void receipt_size(const Subject& subject, Problems& problems);

// Returns true if entries that meet the predicate cover all routes of the limit.
[[nodiscard]] bool is_covered(const Subject& subject, const RouteIndex::Predicate& predicate);

// Returns the mark of the key, or of the limit if it has none.
[[nodiscard]] Mark position_of_key(const LimitSpec& written);

}  // namespace weir::policy::lint_rules
