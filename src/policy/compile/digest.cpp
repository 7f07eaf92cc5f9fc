#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <openssl/evp.h>

#include "base/hex.h"
#include "policy/compile/canonical.h"
#include "policy/compile/compile.h"
#include "policy/limit_fields.h"

namespace weir::policy {
namespace {

constexpr std::string_view format = "weir ruleset 1";
constexpr std::uint64_t charges_denied = std::uint64_t{1} << 63;  // a flag in the number of descriptors of a domain

void put(const MetadataValue& value, Canonical& to) {
  to.put(value.kind);
  to.put(value.truth);
  to.put(std::bit_cast<std::uint64_t>(value.number));
  to.put(value.text);
  to.put(value.items.size());
  // The order of a map's names is irrelevant.
  std::vector<std::size_t> order(value.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool is_map = value.kind == MetadataValue::Kind::map;
  if (is_map) std::ranges::sort(order, [&](auto a, auto b) { return value.names[a] < value.names[b]; });
  for (const std::size_t i : order) {
    if (is_map) to.put(value.names[i]);
    put(value.items[i], to);
  }
}

void put(const Descriptor& descriptor, Canonical& to) {
  to.put(descriptor.key);
  to.put(descriptor.kind);
  to.put(descriptor.value);
  to.put(descriptor.unlimited);
  to.put(descriptor.shadow_mode);
  // One number covers the fields that most descriptors lack.
  to.put(std::uint64_t{descriptor.share_threshold} | std::uint64_t{descriptor.quota_mode} << 1 |
         std::uint64_t{descriptor.banned_per.has_value()} << 2 | std::uint64_t{descriptor.metadata.has_value()} << 3);
  if (descriptor.banned_per) to.put(*descriptor.banned_per);
  if (descriptor.metadata) put(*descriptor.metadata, to);
  to.put(descriptor.limit ? std::optional<std::uint64_t>(*descriptor.limit) : std::nullopt);
  to.put(descriptor.name);
  to.put_sorted(descriptor.replaces);
  to.put(descriptor.children.size());
  for (const Descriptor& child : descriptor.children) put(child, to);
}

// The parts that most policies lack follow all others, each with its name, so that a policy without them has the digest
// that earlier versions computed.
void put_identities(const Ruleset& ruleset, Canonical& to) {
  std::vector<std::string> texts;
  for (const NamedIdentity& each : ruleset.identity.named) {
    texts.push_back(each.name + (each.verified ? " verified " : " unverified ") + each.header);
  }
  if (texts.empty()) return;
  to.put(std::string_view("identities"));
  to.put_sorted(std::move(texts));
}

void put_rare_fields(const Ruleset& ruleset, Canonical& to) {
  for (std::size_t i = 0; i < ruleset.limits.size(); ++i) {
    if (ruleset.limits[i].except.empty()) continue;
    to.put(std::string_view("except"));
    to.put(std::uint64_t{i});
    to.put(ruleset.limits[i].except);
  }
  for (std::size_t i = 0; i < ruleset.limits.size(); ++i) {
    if (!ruleset.limits[i].max_reserve) continue;
    to.put(std::string_view("max_reserve"));
    to.put(std::uint64_t{i});
    to.put(*ruleset.limits[i].max_reserve);
  }
  const Exemptions& exempt = ruleset.exemptions;
  if (exempt.empty()) return;
  to.put(std::string_view("exempt"));
  to.put(exempt.addresses);
  to.put(exempt.routes);
  std::vector<IdentityValues> identities = exempt.identities;
  std::ranges::sort(identities, {}, &IdentityValues::identity);
  to.put(identities.size());
  for (const IdentityValues& each : identities) {
    to.put(each.identity);
    to.put_sorted(each.values);
  }
}

}  // namespace

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), hash.data(), &length, EVP_sha256(), nullptr) != 1) return {};
  return base::hex_text(std::span(hash).first(length));
}

std::string digest(const Ruleset& ruleset, LimitFields fields) {
  Canonical canonical(ruleset);
  canonical.put(format);
  canonical.put(ruleset.identity);
  canonical.put(ruleset.tiers);
  canonical.put(ruleset.limits.size());
  for (const CompiledLimit& limit : ruleset.limits) {
    for (const LimitField& field : fields) {
      if (field.use.digest) field.use.digest(limit, canonical);
    }
    canonical.put(limit.domain);
  }
  canonical.put(ruleset.domains.size());
  for (const Domain& domain : ruleset.domains) {
    canonical.put(domain.name);
    canonical.put(domain.descriptors.size() | (domain.charges_denied ? charges_denied : 0));
    for (const Descriptor& descriptor : domain.descriptors) put(descriptor, canonical);
  }
  canonical.put(ruleset.labels);
  put_identities(ruleset, canonical);
  put_rare_fields(ruleset, canonical);
  return sha256(canonical.bytes());
}

}  // namespace weir::policy
