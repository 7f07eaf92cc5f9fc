// Parses combined logs from any bytes, line by line: accepted entries are within bounds and do not depend on earlier
// lines.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "simulate/combined_line.h"

namespace {

using namespace weir::simulate;

void require(bool holds) {
  if (!holds) std::abort();
}

bool same(const LogEntry& a, const LogEntry& b) {
  return a.at == b.at && a.ip == b.ip && a.user == b.user && a.method == b.method && a.target == b.target &&
         a.status == b.status && std::ranges::equal(a.headers, b.headers);
}

void check(const LogEntry& entry, std::string_view line) {
  require(!entry.method.empty() && entry.method.size() <= 32 && !entry.target.empty());
  require(entry.ip.find(' ') == std::string_view::npos);
  require(entry.ip.size() + entry.user.size() + entry.method.size() + entry.target.size() < line.size());
  require(entry.status < 1000 && entry.headers.size() <= 2);
  require(entry.api_key.empty() && entry.tier.empty() && entry.grain == Grain::second);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  CombinedLines lines(Tail::as_headers);
  FaultTally faults;
  std::uint64_t number = 0;
  for (std::string_view rest = input; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line(rest.substr(0, end));  // apart, so that AddressSanitizer sees its end
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;

    CombinedLines forgetful(Tail::as_headers);
    const auto entry = lines.parse(line);
    const auto again = forgetful.parse(line);
    require(entry.has_value() == again.has_value());
    if (entry) {
      check(*entry, line);
      require(same(*entry, *again));
    } else {
      require(entry.error() == again.error());
      faults.add(entry.error(), number, line);
    }
  }
  require(faults.total() <= number && faults.examples().size() <= FaultTally::max_examples);
  return 0;
}
