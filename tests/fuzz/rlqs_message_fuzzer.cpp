// Parses reports of the quota service from any bytes: what is accepted round-trips.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "wire/protobuf.h"
#include "wire/rlqs.h"

namespace {

using namespace weir::wire;

void require(bool holds) {
  if (!holds) std::abort();
}

std::string written(const rlqs::UsageReports& reports) {
  std::string out;
  protobuf::append_bytes(out, 1, reports.domain());
  for (const rlqs::Usage& usage : reports.usages()) {
    protobuf::append_message(out, 2, [&] {
      protobuf::append_message(out, 1, [&] { rlqs::append_id(out, reports.entries_of(usage)); });
      protobuf::append_number(out, 3, usage.allowed);
      protobuf::append_number(out, 4, usage.denied);
    });
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 65'536) return 0;
  const std::string input(data, data + size);
  rlqs::UsageReports reports;
  if (!reports.read(input)) return 0;
  require(reports.usages().size() <= rlqs::UsageReports::max_usages);
  for (const rlqs::Usage& usage : reports.usages()) {
    const auto entries = reports.entries_of(usage);
    require(std::ranges::is_sorted(entries, std::ranges::less_equal{}, &rlqs::Entry::key) || entries.size() < 2);
  }
  const std::string once = written(reports);
  rlqs::UsageReports again;
  require(again.read(once));
  require(written(again) == once);
  return 0;
}
