// `consumer_key`, `when` and lists of address ranges: who is counted, and who is meant.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "policy/mark.h"
#include "policy/problem.h"
#include "policy/vocabulary.h"
#include "policy/yaml/document.h"

namespace weir::policy {

// `user`, `header:NAME`, `user+route`, `[user, ip]`. A '+' always separates, so that no header's name can have one.
[[nodiscard]] std::optional<Written<ConsumerKey>> read_consumer_key(const yaml::Node& node, Problems& problems);

// `authenticated`, `anonymous`, `{ ip_in: [10.0.0.0/8] }`, `{ ip_not_in: [...] }`.
[[nodiscard]] std::optional<Written<When>> read_when(const yaml::Node& node, Problems& problems);

// Each once; the list may be empty.
[[nodiscard]] std::optional<std::vector<AddressRange>> read_ranges(const yaml::Node& node, std::string_view field,
                                                                   Problems& problems);

}  // namespace weir::policy
