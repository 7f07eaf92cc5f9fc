// What callers that reserve by an estimate, and settle at the end, would have wasted and overspent: part of a report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::simulate {

struct EstimateReport {
  // Of a limit that takes the costs of its callers, in units of these.
  struct OfLimit {
    std::string name;
    std::uint64_t denied = 0;      // requests
    std::uint64_t reserved = 0;    // by the requests that were admitted,
    std::uint64_t spent = 0;       // and what they turned out to cost
    std::uint64_t given_back = 0;  // of the reserved, at the ends
    double wasted = 0;             // the same times the seconds for which nobody else could have it
    std::uint64_t overspent = 0;   // charged at the ends beyond what was left then
    std::uint64_t not_kept = 0;    // requests without a receipt, so many being open: what they reserved stays charged
  };

  std::string estimate;        // as it is written; `report`: checked with nothing, charged at the end
  std::uint64_t admitted = 0;  // requests
  std::uint64_t denied = 0;
  std::uint64_t newly_denied = 0;    // not so if the costs had been known beforehand
  std::uint64_t newly_admitted = 0;  // denied then
  std::vector<OfLimit> limits;       // in file order
};

}  // namespace weir::simulate
