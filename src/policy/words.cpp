#include "policy/words.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/core.h>

#include "core/product.h"

namespace weir::policy {
namespace {

using core::Wide;

struct Unit {
  Duration length;
  std::string_view per;     // 10/min
  std::string_view number;  // 5 min
};

constexpr Unit day{std::chrono::days{1}, "day", "days"};

constexpr std::array<Unit, 4> rate_units{{
    {std::chrono::seconds{1}, "s", "s"},
    {std::chrono::minutes{1}, "min", "min"},
    {std::chrono::hours{1}, "h", "h"},
    day,
}};

constexpr std::array<Unit, 6> duration_units{{
    day,
    {std::chrono::hours{1}, "h", "h"},
    {std::chrono::minutes{1}, "min", "min"},
    {std::chrono::seconds{1}, "s", "s"},
    {std::chrono::milliseconds{1}, "ms", "ms"},
    {std::chrono::microseconds{1}, "us", "us"},
}};

bool keeps_rate(const Limit& limit) noexcept {
  return limit.algorithm() < Algorithm::fixed_window;
}

// How many in one unit of time, if that is a whole number.
std::optional<std::uint64_t> count_in(Rate rate, const Unit& unit) noexcept {
  const Wide product = Wide{rate.count} * static_cast<std::uint64_t>(unit.length.count());
  const auto per = static_cast<std::uint64_t>(rate.per.count());
  if (per == 0 || product % per != 0) return {};
  const Wide count = product / per;
  if (count > ~std::uint64_t{0}) return {};
  return static_cast<std::uint64_t>(count);
}

std::string bucket_rate_text(Rate rate) {
  for (const Unit& unit : rate_units) {
    if (const auto count = count_in(rate, unit)) return fmt::format("{}/{}", *count, unit.per);
  }
  return rate_text(rate);
}

Texts bucket_rate_texts(Rate before, Rate after) {
  for (const Unit& unit : rate_units) {
    const auto was = count_in(before, unit);
    const auto is = count_in(after, unit);
    if (was && is) return {fmt::format("{}/{}", *was, unit.per), fmt::format("{}/{}", *is, unit.per)};
  }
  return {bucket_rate_text(before), bucket_rate_text(after)};
}

// Of a bucket, beside its rate.
std::string capacity_text(const Limit& limit) {
  if (limit.algorithm() == Algorithm::leaky_bucket_queue) return fmt::format("queue {}", limit.capacity() - 1);
  return fmt::format("burst {}", limit.capacity());
}

}  // namespace

std::string duration_text(Duration duration) {
  for (const Unit& unit : duration_units) {
    if (duration.count() % unit.length.count() != 0) continue;
    const auto count = duration / unit.length;
    return fmt::format("{} {}", count, count == 1 ? unit.per : unit.number);
  }
  return {};
}

std::string rate_text(Rate rate) {
  const auto* unit = std::find_if(rate_units.begin(), rate_units.end(),
                                  [&](const Unit& candidate) { return candidate.length == rate.per; });
  if (unit != rate_units.end()) return fmt::format("{}/{}", rate.count, unit->per);
  return fmt::format("{} per {}", rate.count, duration_text(rate.per));
}

std::string rate_text(const Limit& limit) {
  return keeps_rate(limit) ? bucket_rate_text(limit.rate()) : rate_text(limit.rate());
}

std::string numbers_text(const Limit& limit) {
  if (!keeps_rate(limit)) return rate_text(limit);
  return rate_text(limit) + ", " + capacity_text(limit);
}

std::string numbers_text(const std::optional<Limit>& limit) {
  return limit ? numbers_text(*limit) : "unlimited";
}

Texts numbers_texts(const Limit& before, const Limit& after) {
  if (!keeps_rate(before) || !keeps_rate(after)) return {numbers_text(before), numbers_text(after)};
  const Texts rates = bucket_rate_texts(before.rate(), after.rate());
  if (before.capacity() == after.capacity()) return rates;
  if (before.rate() == after.rate()) return {capacity_text(before), capacity_text(after)};
  return {rates.before + ", " + capacity_text(before), rates.after + ", " + capacity_text(after)};
}

std::string routes_text(const std::vector<RouteTemplate>& routes) {
  if (routes.empty()) return "every request";
  std::vector<std::string> texts;
  texts.reserve(routes.size());
  for (const RouteTemplate& route : routes) texts.push_back(route.text());
  return list_text(texts);
}

std::string limit_text(const CompiledLimit& limit) {
  const auto& tiers = limit.live.by_tier;
  std::string text = fmt::format("{} by {} on {}", tiers.empty() ? "unlimited" : numbers_text(tiers.front()),
                                 text_of(limit.consumer_key), routes_text(limit.routes));
  if (limit.when.kind != When::Kind::always) text += " when " + text_of(limit.when);
  return text;
}

std::string list_text(const std::vector<std::string>& items) {
  constexpr std::size_t shown = 3;
  std::string text;
  // `and 1 more` would be no shorter than the item.
  const std::size_t count = items.size() <= shown + 1 ? items.size() : shown;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  if (count < items.size()) text += fmt::format(" and {} more", items.size() - count);
  return text;
}

}  // namespace weir::policy
