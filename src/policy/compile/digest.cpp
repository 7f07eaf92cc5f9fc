#include "policy/compile/compile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <openssl/evp.h>

#include "base/hex.h"
#include "core/calendar.h"

namespace weir::policy {
namespace {

constexpr std::string_view format = "weir ruleset 1";
constexpr std::uint64_t charges_denied = std::uint64_t{1} << 63;  // beside the number of a domain's descriptors
constexpr std::uint64_t banned = 2;                        // where 0 is unlimited, and 1 comes before numbers
constexpr std::uint64_t written_cost = ~std::uint64_t{0};  // where a cost is otherwise, which is within a limit
constexpr std::uint64_t of_calendar = 0;                   // where the count of a rate is otherwise, which is not 0

// Everything in a fixed order, texts and lists with their lengths: no two meanings write the same bytes.
class Canonical {
 public:
  explicit Canonical(const Ruleset& ruleset) : order_(ruleset.tiers.names.size()) {
    // The default tier first, the others by name: their order in the file means nothing.
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
  void put_enum(Enum value) {
    put(static_cast<std::uint64_t>(value));
  }

  template <class T, class Put>
  void put_optional(const std::optional<T>& value, Put put_value) {
    put(value.has_value());
    if (value) put_value(*value);
  }

  void put_sorted(std::vector<std::string> texts) {
    std::ranges::sort(texts);
    put(texts.size());
    for (const std::string& text : texts) put(text);
  }

  void put(const std::vector<AddressRange>& ranges) {
    std::vector<std::string> texts;
    for (const AddressRange& range : ranges) texts.push_back(range.text());
    put_sorted(std::move(texts));
  }

  void put(const std::vector<RouteTemplate>& routes) {
    std::vector<std::string> texts;
    for (const RouteTemplate& route : routes) texts.push_back(route.text());
    put_sorted(std::move(texts));
  }

  void put(const Identity& identity) {
    put(identity.trusted_proxies);
    put(identity.user_header);
    put(identity.api_key_header);
    put(identity.api_key_verified);
    put_optional(identity.address_header, [&](const std::string& name) { put(name); });
    put(std::uint64_t{identity.ipv6_prefix});
  }

  void put(const Tiers& tiers) {
    put_optional(tiers.from_header, [&](const std::string& name) { put(name); });
    put(tiers.names.size());
    for (const std::size_t tier : order_) put(tiers.names[tier]);
  }

  void put(const TieredLimit& limits) {
    for (const std::size_t tier : order_) {
      if (limits.bans(tier)) {
        put(banned);
        continue;
      }
      put_optional(limits.by_tier[tier], [&](const Limit& limit) {
        put_enum(limit.algorithm());
        if (const core::Calendar* calendar = limit.calendar()) {
          put(of_calendar);
          put_enum(calendar->unit());
          put(calendar->zone());
        }
        put(limit.rate().count);
        put(limit.rate().per);
        put(limit.capacity());
      });
    }
  }

  void put(const CostRule& cost) {
    if (cost.is_written) put(written_cost);
    put(cost.fixed.units());
    std::vector<std::string> by_route;
    for (const RouteCost& each : cost.by_route) {
      by_route.push_back(fmt::format("{} {}", each.cost.units(), each.route.text()));
    }
    put_sorted(std::move(by_route));
    put_optional(cost.header, [&](const HeaderCost& header) {
      put(header.header);
      for (const std::size_t tier : order_) put(header.most_by_tier[tier].units());
    });
  }

  void put(const CompiledLimit& limit) {
    put(limit.name);
    put(limit.routes);
    put_enum(limit.when.kind);
    put(limit.when.ranges);
    put(text_of(limit.consumer_key));
    put_enum(limit.missing);
    put(limit.live);
    put(limit.cost);
    put_enum(limit.mode);
    put_optional(limit.candidate, [&](const TieredLimit& candidate) { put(candidate); });
    put_optional(limit.warn_first, [&](const WarnFirst& warn) {
      put(warn.count);
      put(warn.per);
    });
    put_optional(limit.penalty, [&](const Penalty& penalty) {
      put(penalty.after);
      put(penalty.within);
      put(penalty.block);
    });
    put_enum(limit.on_store_failure);
    put(std::uint64_t{limit.local_share.value_or(0)});  // 0 cannot be written
    // One number for both: most limits have no usage.
    const std::uint64_t usage = limit.usage ? static_cast<std::uint64_t>(*limit.usage) + 1 : 0;
    put(static_cast<std::uint64_t>(limit.consistency.kind) | usage << 8);
    if (limit.consistency.kind == Consistency::leased) put(limit.consistency.lease);
    if (limit.consistency.kind == Consistency::approximate) put(limit.consistency.sync);
    put(limit.domain);
  }

  void put(const MetadataValue& value) {
    put_enum(value.kind);
    put(value.truth);
    put(std::bit_cast<std::uint64_t>(value.number));
    put(value.text);
    put(value.items.size());
    // The order of a map's names means nothing.
    std::vector<std::size_t> order(value.items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const bool is_map = value.kind == MetadataValue::Kind::map;
    if (is_map) std::ranges::sort(order, [&](auto a, auto b) { return value.names[a] < value.names[b]; });
    for (const std::size_t i : order) {
      if (is_map) put(value.names[i]);
      put(value.items[i]);
    }
  }

  // One number for what most descriptors do not have.
  void put_modes(const Descriptor& descriptor) {
    put(std::uint64_t{descriptor.share_threshold} | std::uint64_t{descriptor.quota_mode} << 1 |
        std::uint64_t{descriptor.banned_per.has_value()} << 2 | std::uint64_t{descriptor.metadata.has_value()} << 3);
    if (descriptor.banned_per) put(*descriptor.banned_per);
    if (descriptor.metadata) put(*descriptor.metadata);
  }

  void put(const Descriptor& descriptor) {
    put(descriptor.key);
    put_enum(descriptor.kind);
    put(descriptor.value);
    put(descriptor.unlimited);
    put(descriptor.shadow_mode);
    put_modes(descriptor);
    put_optional(descriptor.limit, [&](std::uint32_t limit) { put(std::uint64_t{limit}); });
    put(descriptor.name);
    put_sorted(descriptor.replaces);
    put(descriptor.children.size());
    for (const Descriptor& child : descriptor.children) put(child);
  }

 private:
  std::vector<std::size_t> order_;  // of the tiers
  std::string bytes_;
};

}  // namespace

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), hash.data(), &length, EVP_sha256(), nullptr) != 1) return {};
  return base::hex_text(std::span(hash).first(length));
}

std::string digest(const Ruleset& ruleset) {
  Canonical canonical(ruleset);
  canonical.put(format);
  canonical.put(ruleset.identity);
  canonical.put(ruleset.tiers);
  canonical.put(ruleset.limits.size());
  for (const CompiledLimit& limit : ruleset.limits) canonical.put(limit);
  canonical.put(ruleset.domains.size());
  for (const Domain& domain : ruleset.domains) {
    canonical.put(domain.name);
    canonical.put(domain.descriptors.size() | (domain.charges_denied ? charges_denied : 0));
    for (const Descriptor& descriptor : domain.descriptors) canonical.put(descriptor);
  }
  canonical.put(ruleset.labels);
  return sha256(canonical.bytes());
}

}  // namespace weir::policy
