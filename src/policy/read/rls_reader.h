// Reads a configuration file of envoyproxy/ratelimit: a domain and its tree of descriptors.
//
// The file is interpreted as in envoyproxy/ratelimit: units in any letter case, a month of 30 and a year of 365 days,
// an empty value counts as absent, a descriptor without a limit is never over it, and a limit of zero requests is a
// ban. Fields without effect cause a warning; lint reports `value_to_metric`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "policy/spec.h"
#include "text/yaml/document.h"
#include "text/yaml/problem.h"

namespace weir::policy::rls {

// Returns nothing after an error, which is added to `problems`.
[[nodiscard]] std::optional<DomainSpec> read(const text::Node& root, Problems& problems);

// What happens if a domain is in several files of a directory.
enum class SameDomain { rejected, merged };

// The domains of a directory.
class Domains {
 public:
  explicit Domains(SameDomain same_domain) noexcept : same_domain_(same_domain) {}

  // `problems` belongs to the file of `domain`. It gets an error if another file has the same domain or, where domains
  // are merged, the same top-level descriptor.
  void add(DomainSpec domain, Problems& problems);

  // Returns the domains in the order in which they were added.
  [[nodiscard]] PolicySpec take() &&;

 private:
  void merge(DomainSpec domain, Problems& problems);

  SameDomain same_domain_;
  PolicySpec policy_;
  std::map<std::string, std::string, std::less<>> positions_;  // domain -> FILE:LINE:COLUMN
  std::map<std::tuple<std::string, std::string, std::string>, std::string>
      at_top_;  // domain, key, value -> FILE:LINE:COLUMN
};

}  // namespace weir::policy::rls
