#include "match/caller.h"

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"

namespace weir::match {
namespace {

// --- the entries of X-Forwarded-For and Forwarded (RFC 7239), read from the right

std::string_view unquoted(std::string_view text) noexcept {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return text;
}

// Removes and returns the text up to the next `separator` outside quotes.
std::string_view cut(std::string_view& rest, char separator) noexcept {
  bool quoted = false;
  std::size_t i = 0;
  for (; i < rest.size() && (quoted || rest[i] != separator); ++i) {
    if (rest[i] == '\\' && quoted)
      ++i;
    else if (rest[i] == '"')
      quoted = !quoted;
  }
  i = std::min(i, rest.size());
  const std::string_view piece = rest.substr(0, i);
  rest.remove_prefix(std::min(i + 1, rest.size()));
  return piece;
}

// Iterates over a comma-separated list from its end. Commas in quotes do not separate.
class ListFromRight {
 public:
  explicit ListFromRight(std::string_view list) noexcept : rest_(list) {}

  // Returns nothing at the end. An element may be empty.
  std::optional<std::string_view> next() noexcept;

 private:
  std::string_view rest_;
  bool done_ = false;
};

// A comma with an odd number of quotes to its right is inside quotes. An unclosed quote makes the element invalid,
// which ends the walk.
std::optional<std::string_view> ListFromRight::next() noexcept {
  if (done_) return std::nullopt;
  bool quoted = false;
  std::size_t i = rest_.size();
  while (i > 0 && (quoted || rest_[i - 1] != ',')) {
    --i;
    if (rest_[i] == '"') quoted = !quoted;
  }
  const std::string_view element = base::trimmed(rest_.substr(i));
  done_ = i == 0;
  rest_ = rest_.substr(0, done_ ? 0 : i - 1);
  return element;
}

// Returns the unquoted value of `for=` in one element of Forwarded; empty if there is none.
std::string_view for_parameter(std::string_view element) noexcept {
  while (!element.empty()) {
    const std::string_view pair = base::trimmed(cut(element, ';'));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && base::equals_name(base::trimmed(pair.substr(0, equals)), "for")) {
      return unquoted(base::trimmed(pair.substr(equals + 1)));
    }
  }
  return {};
}

// --- trust

inline bool is_named(const Header& header, std::string_view lower_case_name) noexcept {
  return base::equals_lower(header.name, lower_case_name);
}

bool is_trusted(const policy::Identity& identity, const policy::Address& address) noexcept {
  return std::ranges::any_of(identity.trusted_proxies, [&](const auto& range) { return range.contains(address); });
}

// Walks a list of addresses from the right. Each entry was written by the hop to its right, so it is used only while
// that hop is trusted. If such an entry is invalid, the client is unknown.
class WalkFromRight {
 public:
  WalkFromRight(const policy::Identity& identity, const policy::Address& peer) noexcept
      : identity_(identity), client_{peer} {}

  // Returns false once the client is found: entries further left are not trusted.
  bool visit(std::string_view entry) noexcept {
    const auto address = policy::Address::parse_endpoint(unquoted(entry));
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

// All headers of one name form one list, in order.
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
    found = base::trimmed(header.value);
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

IdentityValue identity_of(const policy::Identity& identity, const Caller& caller, const Query& query,
                          std::string_view name) noexcept {
  using policy::KeyPart;
  if (name == name_of(KeyPart::Kind::user)) {
    return {caller.user, caller.trusted && caller.user.empty() && has_header(query, identity.user_header)};
  }
  if (name == name_of(KeyPart::Kind::api_key)) {
    const bool is_read = caller.trusted || !identity.api_key_verified;
    return {caller.api_key, is_read && caller.api_key.empty() && has_header(query, identity.api_key_header)};
  }
  const policy::NamedIdentity* const named = identity.find(name);
  if (named == nullptr || (named->verified && !caller.trusted)) return {};
  const std::string_view value = sole_header(query, named->header);
  return {value, value.empty() && has_header(query, named->header)};
}

// Kept out of identify(), which most policies run without named identities.
[[gnu::noinline]] static bool sends_named_identity(const policy::Identity& identity, const Query& query) noexcept {
  return std::ranges::any_of(identity.named,
                             [&](const auto& named) { return named.verified && has_header(query, named.header); });
}

Caller identify(const policy::Ruleset& ruleset, const Query& query) noexcept {
  const policy::Identity& identity = ruleset.identity;
  Caller caller;
  const std::optional<policy::Address> peer = policy::Address::parse_endpoint(query.ip);
  caller.trusted = peer && is_trusted(identity, *peer);
  caller.address = peer;
  caller.address_known = peer.has_value();
  caller.address_unreadable = !peer && !query.ip.empty();
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
                             (identity.api_key_verified && has_header(query, identity.api_key_header)) ||
                             (!identity.named.empty() && sends_named_identity(identity, query));
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

}  // namespace weir::match
