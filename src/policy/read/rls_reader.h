// The configuration of envoyproxy/ratelimit, as it is: a domain and its tree of descriptors.
//
// As there: units in any letter case, a month of 30 and a year of 365 days, an empty value is no value, a descriptor
// without a limit is never over it, and a limit of zero requests is a ban. What has no effect is a warning; that it is
// so for `value_to_metric`, lint says.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "policy/spec.h"
#include "text/yaml/document.h"
#include "text/yaml/problem.h"

namespace weir::policy::rls {

// None if anything is wrong: `problems` says what.
[[nodiscard]] std::optional<DomainSpec> read(const text::Node& root, Problems& problems);

// What to do with a domain that is in several files of a directory.
enum class SameDomain { refused, merged };

// The domains of a directory.
class Domains {
 public:
  explicit Domains(SameDomain same_domain) noexcept : same_domain_(same_domain) {}

  // `problems` are those of the file that `domain` is from: it gets the error if another file has the same domain, or,
  // where these are merged, the same descriptor at the top.
  void add(DomainSpec domain, Problems& problems);

  // In the order in which they were added.
  [[nodiscard]] PolicySpec take() &&;

 private:
  void merge(DomainSpec domain, Problems& problems);

  SameDomain same_domain_;
  PolicySpec policy_;
  std::map<std::string, std::string, std::less<>> places_;                           // domain -> FILE:LINE:COLUMN
  std::map<std::tuple<std::string, std::string, std::string>, std::string> at_top_;  // domain, key, value -> likewise
};

}  // namespace weir::policy::rls
