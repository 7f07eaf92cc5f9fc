// Looks up rate limit descriptors, as Envoy sends them, in the tree of a domain. A descriptor is a list of (key, value)
// pairs.
//
// Each level matches the exact value first, then wildcards in file order, then the bare key. A descriptor matches only
// at the depth at which a limit is configured. Counters are keyed by the tuple of pairs; with `share_threshold` the
// pattern replaces the value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policy/ruleset.h"
#include "weir/cost.h"
#include "weir/limit.h"
#include "weir/query.h"
#include "weir/result.h"

namespace weir::match {

// One descriptor of a request.
struct DescriptorQuery {
  std::span<const DescriptorEntry> entries;
  Cost hits{1};
  std::optional<WindowNumbers> limit_override;  // replaces the configured limit; never in shadow mode
  bool gives_back = false;                      // returns hits, at most those used; never denied
};

// Writes the counter's key into `key`. Returns null if nothing is configured for these entries.
[[nodiscard]] const policy::Descriptor* match_descriptor(const policy::Domain& domain,
                                                         std::span<const DescriptorEntry> entries, std::string& key);

// Does the same for unordered entries, such as those of a quota bucket. Reorders them into the first order, starting
// from sorted keys, for which a limit is configured.
[[nodiscard]] const policy::Descriptor* match_unordered(const policy::Domain& domain,
                                                        std::span<DescriptorEntry> entries, std::string& key);

// Writes the key of a tuple without a lookup.
void write_descriptor_key(std::span<const DescriptorEntry> entries, std::string& key);

// A descriptor as an operator names it.
struct DescriptorName {
  std::string_view domain;
  std::span<const DescriptorEntry> entries;
};

// Writes the counter's key into `key`. If nothing is configured, the error lists what is.
[[nodiscard]] Result<const policy::Descriptor*> find_descriptor(const policy::Ruleset& ruleset,
                                                                const DescriptorName& name, std::string& key);

// Formats entries: `remote_address=192.0.2.7 + path=/login`.
[[nodiscard]] std::string describe_descriptor(std::span<const DescriptorEntry> entries);

}  // namespace weir::match
