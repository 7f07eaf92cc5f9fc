// The part of a report on callers that reserve an estimate and settle at the end: what they would waste and overspend.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::simulate {

struct EstimateReport {
  // A limit that is charged the cost of the caller, in units of that cost.
  struct OfLimit {
    std::string name;
    std::uint64_t denied = 0;      // denied requests
    std::uint64_t reserved = 0;    // units reserved by admitted requests
    std::uint64_t spent = 0;       // the actual cost of these requests
    std::uint64_t given_back = 0;  // reserved and not spent
    double wasted = 0;             // given_back times the seconds for which it was reserved
    std::uint64_t overspent = 0;   // charged on settlement beyond the remaining quota
    std::uint64_t not_kept = 0;    // requests without a receipt because too many were open; these stay charged
  };

  std::string estimate;        // Estimate::text(); `report`: checked at cost 0, charged at the end
  std::uint64_t admitted = 0;  // admitted requests
  std::uint64_t denied = 0;
  std::uint64_t newly_denied = 0;    // requests that would be admitted if the costs were known in advance
  std::uint64_t newly_admitted = 0;  // requests that would be denied if the costs were known in advance
  std::vector<OfLimit> limits;       // in file order
};

}  // namespace weir::simulate
