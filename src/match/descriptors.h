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
#include "weir/limit.h"
#include "weir/query.h"
#include "weir/result.h"

namespace weir::match {

// One descriptor of a request.
struct DescriptorQuery {
  std::span<const DescriptorEntry> entries;
  Cost hits{1};
  std::optional<WindowNumbers> limit_override;  // instead of what is configured; never in shadow
  bool gives_back = false;                      // the hits, as far as they are used; never denied
};

// Writes the counter's key into `key`. None if nothing is configured for these entries.
[[nodiscard]] const policy::Descriptor* match_descriptor(const policy::Domain& domain,
                                                         std::span<const DescriptorEntry> entries, std::string& key);

// The same for entries that have no order, as those of a quota bucket: they are put into the first one, by the order of
// their keys, for which something is configured.
[[nodiscard]] const policy::Descriptor* match_unordered(const policy::Domain& domain,
                                                        std::span<DescriptorEntry> entries, std::string& key);

// The key of a tuple as it is.
void write_descriptor_key(std::span<const DescriptorEntry> entries, std::string& key);

// One descriptor by its domain and entries, as an operator names it: to look at its counter, or to forget it.
struct DescriptorName {
  std::string_view domain;
  std::span<const DescriptorEntry> entries;
};

// What is configured for it; the counter's key is written into `key`. An error that says what there is, if nothing is.
[[nodiscard]] Result<const policy::Descriptor*> find_descriptor(const policy::Ruleset& ruleset,
                                                                const DescriptorName& name, std::string& key);

// For people: `remote_address=192.0.2.7 + path=/login`.
[[nodiscard]] std::string describe_descriptor(std::span<const DescriptorEntry> entries);

}  // namespace weir::match
