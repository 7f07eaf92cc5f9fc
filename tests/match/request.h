// Builders for tests: policies from text, and requests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/load.h"
#include "policy/ruleset.h"
#include "weir/cost.h"
#include "weir/query.h"
#include "weir/time.h"

namespace weir::match {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

inline std::shared_ptr<const policy::Ruleset> ruleset_of(std::string_view text) {
  const policy::Loaded loaded = policy::load_text(text, "policy.yaml");
  for (const policy::Problem& problem : loaded.problems) {
    if (problem.severity == policy::Severity::error) ADD_FAILURE() << problem.text();
  }
  return loaded.ruleset;
}

// Builds a request in natural order: caller, target, headers.
struct Request {
  std::string method = "GET";
  std::string target = "/";
  std::string ip = "203.0.113.1";
  std::string user;
  std::string tier;
  std::optional<Cost> cost;
  bool peek = false;
  Duration max_wait = Duration::max();
  bool wants_more_after = true;
  std::vector<std::pair<std::string, std::string>> headers;

  static Request to(std::string_view line) {
    Request request;
    const std::size_t space = line.find(' ');
    request.method = line.substr(0, space);
    request.target = line.substr(space + 1);
    return request;
  }
  Request& from(std::string address) { return ip = std::move(address), *this; }
  Request& by(std::string name) { return user = std::move(name), *this; }
  Request& in_tier(std::string name) { return tier = std::move(name), *this; }
  Request& costing(std::uint64_t units) { return cost = Cost{units}, *this; }
  Request& with(std::string name, std::string value) {
    headers.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  Request& only_looking() { return peek = true, *this; }
};

// A request as a query, whose views point into it.
class Asked {
 public:
  explicit Asked(Request request) : request_(std::move(request)) {
    for (const auto& [name, value] : request_.headers) headers_.push_back({name, value});
    query_ = Query{.method = request_.method,
                   .path = request_.target,
                   .ip = request_.ip,
                   .headers = headers_,
                   .user = request_.user,
                   .api_key = {},
                   .tier = request_.tier,
                   .cost = request_.cost,
                   .max_wait = request_.max_wait,
                   .peek = request_.peek,
                   .wants_more_after = request_.wants_more_after};
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  [[nodiscard]] const Query& query() const noexcept { return query_; }

 private:
  Request request_;
  std::vector<Header> headers_;
  Query query_;
};

}  // namespace weir::match
