// Parses every header field from any bytes: what is accepted is within its bounds, lies inside the input, round-trips,
// and conforms to the grammar.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include "tests/wire/structured_list_oracle.h"
#include "text/date.h"
#include "wire/fields/delta_seconds.h"
#include "wire/fields/rate_limit.h"
#include "wire/fields/structured_list.h"

namespace {

using namespace weir;
using namespace weir::wire;
using std::chrono::seconds;

constexpr std::uint64_t largest_integer = 999'999'999'999'999;
constexpr std::size_t short_enough_for_the_oracle = 200;

const Instant now = std::chrono::sys_days{std::chrono::year{2025} / 11 / 15};

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_inside(std::string_view part, std::string_view whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

std::string written(const RateLimit& limit) {
  std::string text = '"' + std::string(limit.name) + "\";r=" + std::to_string(limit.remaining);
  if (limit.more_after) text += ";t=" + std::to_string(*limit.more_after / seconds{1});
  if (!limit.partition_key.empty()) text += ";pk=:" + std::string(limit.partition_key) + ":";
  return text;
}

std::string written(const RateLimitPolicy& policy) {
  constexpr std::array<std::string_view, 4> units{"requests", "content-bytes", "concurrent-requests", "else"};
  std::string text = '"' + std::string(policy.name) + "\";q=" + std::to_string(policy.quota);
  if (policy.window) text += ";w=" + std::to_string(*policy.window / seconds{1});
  text += ";qu=\"" + std::string(units.at(static_cast<std::size_t>(policy.unit))) + "\"";
  if (!policy.partition_key.empty()) text += ";pk=:" + std::string(policy.partition_key) + ":";
  return text;
}

void require_bounds(const RateLimit& limit, std::string_view field) {
  require(is_inside(limit.name, field) && is_inside(limit.partition_key, field));
  require(limit.remaining <= largest_integer);
  require(!limit.more_after || (*limit.more_after >= seconds{0} && *limit.more_after <= max_wait));
}

void require_bounds(const RateLimitPolicy& policy, std::string_view field) {
  require(is_inside(policy.name, field) && is_inside(policy.partition_key, field));
  require(policy.quota <= largest_integer);
  require(!policy.window || (*policy.window >= seconds{1} && *policy.window <= max_wait));
}

template <class Parse>
void check_members(std::string_view field, Parse parse) {
  const auto members = parse(field);
  if (!members) return;
  require(!members->empty() && members->size() <= ListReader::max_members);
  std::string again;
  for (const auto& member : *members) {
    require_bounds(member, field);
    again += (again.empty() ? "" : ", ") + written(member);
  }
  // Written again, the field may be longer than the maximum and is then rejected.
  if (again.size() <= ListReader::max_length) require(parse(again) == members);
  const std::string broken = std::string(field) + ",";
  require(!parse(broken));
}

void check_grammar(std::string_view field) {
  if (field.size() > short_enough_for_the_oracle) return;
  ListReader list(field);
  std::size_t members = 0;
  while (list.next_member()) ++members;
  if (members < ListReader::max_members) require(list.well_formed() == oracle_accepts(field));
}

void check_date(std::string_view text) {
  const auto date = text::parse_http_date(text, now);
  if (!date) return;
  const std::time_t time = std::chrono::floor<seconds>(*date).time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&time, &parts);
  // From the year 1000 on, the C library writes four-digit years.
  if (parts.tm_year + 1900 < 1000 || parts.tm_year + 1900 > 9999) return;
  std::array<char, 64> again{};
  const std::size_t length = std::strftime(again.data(), again.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  require(text::parse_http_date({again.data(), length}, now) == date);
}

void check_retry_after(std::string_view field) {
  const auto wait = parse_retry_after(field, now);
  if (!wait) return;
  require(*wait >= Duration::zero() && *wait <= max_wait);
  // At its end, a wait for a date is zero; a wait in seconds does not change.
  const auto later = parse_retry_after(field, now + *wait);
  const bool capped = *wait == max_wait;
  require(later == wait || later == Duration::zero() || capped);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  check_grammar(input);
  check_members(input, parse_rate_limit);
  check_members(input, parse_rate_limit_policy);
  check_date(input);
  check_retry_after(input);
  return 0;
}
