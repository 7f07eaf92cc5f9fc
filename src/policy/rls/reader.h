// The configuration of envoyproxy/ratelimit, as it is: a domain and its tree of descriptors.
//
// As there: units in any letter case, a month of 30 and a year of 365 days, an empty value is no value, a descriptor
// without a limit is never over it. Not as there: a limit of zero requests is refused. What has no effect is a warning.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "policy/problem.h"
#include "policy/spec.h"
#include "policy/yaml/document.h"

namespace weir::policy::rls {

// None if anything is wrong: `problems` says what.
[[nodiscard]] std::optional<DomainSpec> read(const yaml::Node& root, Problems& problems);

// The domains of a directory, of which each is in one file.
class Domains {
 public:
  // `problems` are those of the file that `domain` is from: it gets the error if another file has the same domain.
  void add(DomainSpec domain, Problems& problems);

  // In the order in which they were added.
  [[nodiscard]] PolicySpec take() &&;

 private:
  PolicySpec policy_;
  std::map<std::string, std::string, std::less<>> places_;  // domain -> FILE:LINE:COLUMN
};

}  // namespace weir::policy::rls
