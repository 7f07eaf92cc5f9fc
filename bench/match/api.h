// An API with many routes, and requests to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "match/route_tree.h"

namespace bench::match {

inline constexpr std::size_t routes_of_api = 10'000;

// All routes of the API, each with a limit: 500 resources in two versions and a few areas, of 20 routes each, with two
// to seven segments, most of them with a method and with parameters.
[[nodiscard]] std::vector<weir::match::RouteEntry> large_api();

// Ten of these routes, one of each kind.
[[nodiscard]] std::vector<weir::match::RouteEntry> small_api();

struct Request {
  std::string_view method;
  std::string_view target;
  std::uint32_t limit = 0;  // the limit of its route
};

// Requests in order, with contiguous texts.
class Requests {
 public:
  // Draws routes and parameter values uniformly.
  Requests(const std::vector<weir::match::RouteEntry>& routes, std::size_t count, std::uint64_t seed);

  [[nodiscard]] const std::vector<Request>& all() const noexcept { return requests_; }

 private:
  std::string texts_;
  std::vector<Request> requests_;
};

}  // namespace bench::match
