// The scenarios: limits of 100 requests per minute under several kinds of traffic.
#pragma once

#include <string_view>
#include <vector>

#include "traffic/traffic.h"
#include "weir/limit.h"

namespace bench::accuracy {

inline constexpr weir::WindowNumbers promise{100, std::chrono::minutes{1}};

struct NamedLimit {
  std::string_view name;
  weir::Limit limit;
};

// The exact log comes first.
std::vector<NamedLimit> limits();

struct NamedTraffic {
  std::string_view name;
  traffic::Arrivals arrivals;
  bool attack = false;
};

// The duration of each.
std::vector<NamedTraffic> traffics(weir::Duration length);

}  // namespace bench::accuracy
