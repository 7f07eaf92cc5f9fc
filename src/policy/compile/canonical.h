// The canonical bytes of a ruleset, from which its digest is made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/calendar.h"
#include "policy/ruleset.h"

namespace weir::policy {

// Writes everything in a fixed order, and texts and lists with their lengths. So different rulesets differ in bytes.
class Canonical {
 public:
  explicit Canonical(const Ruleset& ruleset) : order_(ruleset.tiers.names.size()) {
    // Lists the default tier first and the others by name, because their order in the file is irrelevant.
    const auto& names = ruleset.tiers.names;
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (order_.empty()) return;
    std::sort(order_.begin() + 1, order_.end(), [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  }

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

  void put(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>((number >> shift) & 0xffU);
  }
  void put(std::string_view text) {
    put(text.size());
    bytes_ += text;
  }
  void put(Duration duration) { put(static_cast<std::uint64_t>(duration.count())); }
  void put(bool truth) { put(std::uint64_t{truth}); }

  template <class Enum>
    requires std::is_enum_v<Enum>
  void put(Enum value) {
    put(static_cast<std::uint64_t>(value));
  }

  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }

  void put_sorted(std::vector<std::string> texts) {
    std::ranges::sort(texts);
    put(texts.size());
    for (const std::string& text : texts) put(text);
  }

  // Writes routes or ranges sorted, since their order is irrelevant.
  template <class T>
    requires requires(const T& each) { each.text(); }
  void put(const std::vector<T>& list) {
    std::vector<std::string> texts;
    for (const T& each : list) texts.push_back(each.text());
    put_sorted(std::move(texts));
  }

  void put(const Identity& identity) {
    put(identity.trusted_proxies);
    put(identity.user_header);
    put(identity.api_key_header);
    put(identity.api_key_verified);
    put(identity.address_header);
    put(std::uint64_t{identity.ipv6_prefix});
  }

  void put(const Tiers& tiers) {
    put(tiers.from_header);
    put(tiers.names.size());
    for (const std::size_t tier : order_) put(tiers.names[tier]);
  }

  void put(const TieredLimit& limits) {
    for (const std::size_t tier : order_) {
      if (limits.bans(tier)) {
        put(banned);
        continue;
      }
      put(limits.by_tier[tier]);
    }
  }

  void put(const Limit& limit) {
    put(limit.algorithm());
    if (const core::Calendar* calendar = limit.calendar()) {
      put(of_calendar);
      put(calendar->unit());
      put(calendar->zone());
    }
    put(limit.rate().count);
    put(limit.rate().per);
    put(limit.capacity());
  }

  void put(const CostRule& cost) {
    if (cost.is_written) put(written_cost);
    put(cost.fixed.units());
    std::vector<std::string> by_route;
    for (const RouteCost& each : cost.by_route) {
      by_route.push_back(fmt::format("{} {}", each.cost.units(), each.route.text()));
    }
    put_sorted(std::move(by_route));
    put(cost.header);
  }

  void put(const HeaderCost& cost) {
    put(cost.header);
    for (const std::size_t tier : order_) put(cost.max_by_tier[tier].units());
  }

  void put(const When& when) {
    put(when.kind);
    put(when.ranges);
    if (when.kind < When::Kind::identified_by) return;
    put(when.identity);
    put_sorted(when.values);
    put(when.conditions.size());
    for (const When& each : when.conditions) put(each);
  }

  void put(const ConsumerKey& key) { put(text_of(key)); }

  void put(const WarnFirst& warn) {
    put(warn.count);
    put(warn.per);
  }

  void put(const Penalty& penalty) {
    put(penalty.after);
    put(penalty.within);
    put(penalty.block);
  }

 private:
  static constexpr std::uint64_t banned = 2;  // written where an unlimited tier has 0 and a limited one has 1
  static constexpr std::uint64_t written_cost = ~std::uint64_t{0};  // no cost has this value
  static constexpr std::uint64_t of_calendar = 0;                   // no rate has this count

  std::vector<std::size_t> order_;  // the tiers' indexes in canonical order
  std::string bytes_;
};

}  // namespace weir::policy
