// Parses JSON lines from any bytes: accepted entries are within bounds and do not depend on earlier
// lines.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "simulate/json_line.h"

namespace {

using namespace weir::simulate;

void require(bool holds) {
  if (!holds) std::abort();
}

JsonLines new_reader() {
  const std::array<std::string, 3> assignments{"user=request.headers.x-user", "header:X-Plan=plan", "tier=a.b.c"};
  auto map = FieldMap::with(assignments);
  require(map.has_value());
  return JsonLines(std::move(*map));
}

bool same(const LogEntry& a, const LogEntry& b) {
  return a.at == b.at && a.ip == b.ip && a.user == b.user && a.api_key == b.api_key && a.tier == b.tier &&
         a.method == b.method && a.target == b.target && a.status == b.status && a.grain == b.grain &&
         std::ranges::equal(a.headers, b.headers);
}

void check(const LogEntry& entry, std::string_view line) {
  require(!entry.target.empty() && entry.target.size() < line.size());
  require(entry.status < 1000 && entry.headers.size() <= 1);
  for (const std::string_view text : {entry.user, entry.api_key, entry.tier, entry.method}) {
    require(text != "-" && text.size() < line.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  static JsonLines lines = new_reader();
  static JsonLines others = new_reader();  // reads another line before each
  for (std::string_view rest = input; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line(rest.substr(0, end));  // apart, so that AddressSanitizer sees its end
    rest.remove_prefix(std::min(end + 1, rest.size()));

    require(
        others.parse(R"({"ts":1,"uri":"/","plan":"pro","ip":"1.2.3.4","user":"u","a":{"b":{"c":"d"}}})").has_value());
    const auto entry = lines.parse(line);
    const auto again = others.parse(line);
    require(entry.has_value() == again.has_value());
    if (entry) {
      check(*entry, line);
      require(same(*entry, *again));
    } else {
      require(entry.error() == again.error());
    }
  }
  return 0;
}
