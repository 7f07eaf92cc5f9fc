// What stands under x-rate-limit, gathered from all places of a document into limits with their routes.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "policy/openapi/operations.h"
#include "policy/openapi/reference.h"
#include "policy/problem.h"
#include "policy/spec.h"
#include "policy/yaml/document.h"

namespace weir::policy::openapi {

class Limits {
 public:
  Limits(References& references, Problems& problems) : references_(references), problems_(problems) {}

  // One limit, a list of them, or a reference to either, for `operations`, which stay where they are until take().
  // `name` is for limits without one.
  void read(const yaml::Node& value, const Written<std::string>& name, const std::vector<const Operation*>& operations);

  [[nodiscard]] std::vector<LimitSpec> take() &&;

 private:
  struct Gathered {
    LimitSpec limit;
    std::vector<const Operation*> operations;
    std::unordered_set<std::string> matched;  // match_key() of its routes
  };

  void read_one(const yaml::Node& node, const Written<std::string>& name,
                const std::vector<const Operation*>& operations);
  void cover(Gathered& gathered, const std::vector<const Operation*>& operations);
  void add_base_paths(Gathered& gathered);

  References& references_;
  Problems& problems_;
  std::vector<Gathered> all_;
  std::map<std::pair<const yaml::Node*, std::string>, std::optional<std::size_t>> known_;  // in all_; none: wrong
  std::size_t routes_ = 0;
};

}  // namespace weir::policy::openapi
