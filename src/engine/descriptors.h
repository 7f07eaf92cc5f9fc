// Rate limit descriptors as Envoy sends them: lists of (key, value) pairs, looked up in the tree of a domain.
//
// Per level: the exact value, then wildcards in file order, then the bare key. A descriptor matches only at the depth
// at which a limit is configured. Counters belong to the tuple of pairs, never to a text joined from them; under
// `share_threshold` the pattern stands in place of the value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policy/ruleset.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/limit.h"

namespace weir::engine {

struct DescriptorEntry {
  std::string_view key;
  std::string_view value;
};

// One descriptor of a request.
struct DescriptorAsk {
  std::span<const DescriptorEntry> entries;
  Cost hits{1};
  std::optional<WindowNumbers> limit_override;  // instead of what is configured; never in shadow
  bool gives_back = false;                      // the hits, as far as they are used; never denied
};

// What is said about one descriptor.
struct DescriptorStatus {
  enum class Kind : std::uint8_t { unmatched, unlimited, limited };

  Kind kind = Kind::unmatched;
  bool admitted = true;                // also if only a shadow limit would deny
  std::string_view name;               // of the limit, as configured; empty if it has none
  std::optional<std::uint32_t> limit;  // of Ruleset::limits; empty if none of them was asked
  WindowNumbers numbers;               // that were applied
  Decision decision;
  const policy::MetadataValue* metadata = nullptr;  // of what is configured; null: none
};

// The descriptors of one request, and what is decided on them.
struct DescriptorCase {
  std::string_view domain;
  std::span<const DescriptorAsk> asks;
  std::span<DescriptorStatus> statuses;  // one for each
  bool admitted = true;
};

// Writes the counter's key into `key`. None if nothing is configured for these entries.
[[nodiscard]] const policy::Descriptor* match_descriptor(const policy::Domain& domain,
                                                         std::span<const DescriptorEntry> entries, std::string& key);

// The key of a tuple as it is.
void write_descriptor_key(std::span<const DescriptorEntry> entries, std::string& key);

}  // namespace weir::engine
