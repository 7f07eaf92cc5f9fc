#include "engine/caller.h"

#include <algorithm>
#include <cstddef>

#include "engine/forwarded.h"

namespace weir::engine {
namespace {

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_named(const Header& header, std::string_view lower_case_name) noexcept {
  return std::ranges::equal(header.name, lower_case_name, {}, lower);
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_trusted(const policy::Identity& identity, const policy::Address& address) noexcept {
  return std::ranges::any_of(identity.trusted_proxies, [&](const auto& range) { return range.contains(address); });
}

// Walks a list of addresses from the right. Each entry was written by the hop to its right, so it counts only as
// long as that hop is trusted. Where such a hop wrote what cannot be read, the client is unknown.
class WalkFromRight {
 public:
  WalkFromRight(const policy::Identity& identity, const policy::Address& peer) noexcept
      : identity_(identity), client_{peer} {}

  // False once the client is found: what lies further left is hearsay.
  bool visit(std::string_view entry) noexcept {
    const auto address = address_of_hop(entry);
    client_.known = address.has_value();
    if (!address) return false;
    client_.address = *address;
    return is_trusted(identity_, *address);
  }

  [[nodiscard]] const ForwardedClient& client() const noexcept { return client_; }

 private:
  const policy::Identity& identity_;
  ForwardedClient client_;
};

enum class ListSyntax { addresses, forwarded };

// The headers of a name form one list, in order.
ForwardedClient read_list(const policy::Identity& identity, const Query& query, const policy::Address& peer,
                          std::string_view name, ListSyntax syntax) noexcept {
  WalkFromRight walk(identity, peer);
  for (std::size_t i = query.headers.size(); i-- > 0;) {
    if (!is_named(query.headers[i], name)) continue;
    ListFromRight entries(query.headers[i].value);
    while (const auto entry = entries.next()) {
      if (!walk.visit(syntax == ListSyntax::forwarded ? for_parameter(*entry) : *entry)) return walk.client();
    }
  }
  return walk.client();
}

ForwardedClient read_named(const policy::Identity& identity, const Query& query, const policy::Address& peer,
                           std::string_view name) noexcept {
  return read_list(identity, query, peer, name, name == "forwarded" ? ListSyntax::forwarded : ListSyntax::addresses);
}

}  // namespace

bool has_header(const Query& query, std::string_view name) noexcept {
  return !name.empty() && std::ranges::any_of(query.headers, [&](const Header& h) { return is_named(h, name); });
}

std::string_view sole_header(const Query& query, std::string_view name) noexcept {
  if (name.empty()) return {};
  std::string_view found;
  bool seen = false;
  for (const Header& header : query.headers) {
    if (!is_named(header, name)) continue;
    if (seen) return {};
    seen = true;
    found = trimmed(header.value);
  }
  return found;
}

ForwardedClient forwarded_client(const policy::Identity& identity, const Query& query,
                                 const policy::Address& peer) noexcept {
  if (identity.address_header) return read_named(identity, query, peer, *identity.address_header);
  const bool listed = has_header(query, "x-forwarded-for");
  const bool forwarded = has_header(query, "forwarded");
  if (!forwarded) return read_named(identity, query, peer, "x-forwarded-for");
  const ForwardedClient by_forwarded = read_named(identity, query, peer, "forwarded");
  if (!listed || read_named(identity, query, peer, "x-forwarded-for") == by_forwarded) return by_forwarded;
  return {peer, false};
}

Caller identify(const policy::Ruleset& ruleset, const Query& query) noexcept {
  const policy::Identity& identity = ruleset.identity;
  Caller caller;
  const std::optional<policy::Address> peer = policy::Address::parse(query.ip);
  caller.trusted = peer && is_trusted(identity, *peer);
  caller.address = peer;
  caller.address_known = peer.has_value();
  if (caller.trusted) {
    const ForwardedClient client = forwarded_client(identity, query, *peer);
    caller.address = client.address;
    caller.address_known = client.known;
  }

  std::string_view tier = query.tier;
  caller.user = query.user;
  caller.api_key = query.api_key;
  bool key_verified = !query.api_key.empty();
  if (caller.trusted) {
    if (caller.user.empty()) caller.user = sole_header(query, identity.user_header);
    if (tier.empty() && ruleset.tiers.from_header) tier = sole_header(query, *ruleset.tiers.from_header);
  } else {
    caller.ignored_headers = has_header(query, identity.user_header) || has_header(query, "x-forwarded-for") ||
                             has_header(query, "forwarded") ||
                             (ruleset.tiers.from_header && has_header(query, *ruleset.tiers.from_header)) ||
                             (identity.api_key_verified && has_header(query, identity.api_key_header));
  }
  if (caller.api_key.empty() && (caller.trusted || !identity.api_key_verified)) {
    caller.api_key = sole_header(query, identity.api_key_header);
    key_verified = identity.api_key_verified && !caller.api_key.empty();
  }
  caller.authenticated = !caller.user.empty() || key_verified;

  if (!tier.empty()) {
    const auto known = ruleset.tiers.find(tier);
    caller.unknown_tier = !known;
    caller.tier = known.value_or(0);
  }
  return caller;
}

}  // namespace weir::engine
