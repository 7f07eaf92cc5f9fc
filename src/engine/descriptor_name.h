// One descriptor by its domain and entries, as an operator names it: to look at its counter, or to forget it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/descriptors.h"
#include "policy/ruleset.h"
#include "weir/result.h"

namespace weir::engine {

struct DescriptorName {
  std::string_view domain;
  std::span<const DescriptorEntry> entries;
};

// What is configured for it; the counter's key is written into `key`. An error that says what there is, if nothing is.
[[nodiscard]] Result<const policy::Descriptor*> find_descriptor(const policy::Ruleset& ruleset,
                                                                const DescriptorName& name, std::string& key);

// For people: `remote_address=192.0.2.7 + path=/login`.
[[nodiscard]] std::string describe_descriptor(std::span<const DescriptorEntry> entries);

}  // namespace weir::engine
