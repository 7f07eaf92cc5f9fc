#include "server/store_fit.h"

#include <fmt/core.h>

#include "policy/scalar.h"
#include "policy/vocabulary.h"

namespace weir::server {

std::vector<policy::Problem> misfits(const policy::Ruleset& ruleset, const StoreConfig& store,
                                     const std::string& file) {
  policy::Problems problems(file);
  if (!store.redis) return {};
  for (const policy::CompiledLimit& limit : ruleset.limits) {
    if (limit.consistency == policy::Consistency::exact) continue;
    problems.error(limit.at, fmt::format("limit {}: 'consistency: {}' is not there yet for limits in Redis: write "
                                         "'consistency: exact', or leave it out",
                                         policy::quoted(limit.name), name_of(limit.consistency)));
  }
  return problems.sorted();
}

}  // namespace weir::server
