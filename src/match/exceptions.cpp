#include "match/exceptions.h"

#include <algorithm>
#include <cstring>

#include "base/ascii.h"
#include "match/consumer.h"
#include "match/consumer_key.h"
#include "text/yaml/scalar.h"

namespace weir::match {
namespace {

constexpr std::string_view header_prefix = "header:";

// --- the keys of blocked identities: a kind, for a header its name, and the value

char tag_of(BlockedIdentity::Kind kind) noexcept {
  return static_cast<char>('0' + static_cast<int>(kind));
}

void write_value(std::string& to, BlockedIdentity::Kind kind, std::string_view value) {
  to.assign(1, tag_of(kind));
  to += value;
}

void write_header(std::string& to, std::string_view name, std::string_view value) {
  to.assign(1, tag_of(BlockedIdentity::Kind::header));
  append_sized(to, name);
  to += value;
}

void write_range(std::string& to, const text::Address& network, unsigned prefix) {
  to.assign(1, tag_of(BlockedIdentity::Kind::ip));
  to.push_back(static_cast<char>(network.family));
  to.push_back(static_cast<char>(prefix));
  to.append(reinterpret_cast<const char*>(network.bytes.data()), network.bytes.size());
}

void write_identity(std::string& to, const BlockedIdentity& identity) {
  switch (identity.kind) {
    case BlockedIdentity::Kind::header:
      return write_header(to, identity.header, identity.value);
    case BlockedIdentity::Kind::ip:
      return write_range(to, identity.range.network, identity.range.prefix);
    case BlockedIdentity::Kind::user:
    case BlockedIdentity::Kind::api_key:
      return write_value(to, identity.kind, identity.value);
  }
}

bool covers(const Block& block, const Query& query, PathReader& paths) {
  if (block.routes == nullptr) return true;
  Matches matches(*block.routes);
  block.routes->match(query.method, paths.read(query.path), matches);
  return !matches.all().empty();
}

}  // namespace

// --- replacements

std::size_t ReplacementTable::home_of(std::uint64_t hash) const noexcept {
  return static_cast<std::size_t>((hash >> 32) * slots_.size() >> 32);
}

const ReplacementTable::Slot* ReplacementTable::locate(std::string_view key) const noexcept {
  if (slots_.empty()) return nullptr;
  const std::uint64_t hash = segment_hash(key);
  for (std::size_t at = home_of(hash);; at = at + 1 == slots_.size() ? 0 : at + 1) {
    const Slot& slot = slots_[at];
    if (slot.state == Slot::State::free) return nullptr;
    if (slot.state == Slot::State::used && slot.hash == static_cast<std::uint32_t>(hash) &&
        std::string_view(keys_).substr(slot.key_begin, slot.key_length) == key) {
      return &slot;
    }
  }
}

const ReplacementTable::Entry* ReplacementTable::find(std::string_view key) const noexcept {
  const Slot* const slot = locate(key);
  return slot == nullptr ? nullptr : &slot->entry;
}

// Requires a free slot, and that the key is absent.
void ReplacementTable::place(std::string_view key, std::uint64_t hash, Entry entry) {
  std::size_t at = home_of(hash);
  while (slots_[at].state != Slot::State::free) at = at + 1 == slots_.size() ? 0 : at + 1;
  slots_[at] = {.key_begin = static_cast<std::uint32_t>(keys_.size()),
                .hash = static_cast<std::uint32_t>(hash),
                .key_length = static_cast<std::uint32_t>(key.size()),
                .state = Slot::State::used,
                .entry = std::move(entry)};
  keys_ += key;
  ++size_;
  ++occupied_;
}

void ReplacementTable::set(std::string_view key, Entry entry) {
  if (const Slot* const slot = locate(key)) {
    const_cast<Slot*>(slot)->entry = std::move(entry);
    return;
  }
  if ((occupied_ + 1) * 8 > slots_.size() * 7) rebuild();
  place(key, segment_hash(key), std::move(entry));
}

bool ReplacementTable::erase(std::string_view key) {
  const Slot* const slot = locate(key);
  if (slot == nullptr) return false;
  const_cast<Slot*>(slot)->state = Slot::State::erased;
  const_cast<Slot*>(slot)->entry = {};
  --size_;
  return true;
}

// Drops erased slots with their keys, and leaves room for a quarter more.
void ReplacementTable::rebuild() {
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(size_ * 3 / 2 + 8));
  const std::string keys = std::exchange(keys_, {});
  keys_.reserve(keys.size() + keys.size() / 4);
  size_ = occupied_ = 0;
  for (const Slot& slot : before) {
    if (slot.state != Slot::State::used) continue;
    const std::string_view key = std::string_view(keys).substr(slot.key_begin, slot.key_length);
    place(key, segment_hash(key), slot.entry);
  }
}

// --- blocks

Result<BlockedIdentity> BlockedIdentity::parse(std::string_view text) {
  constexpr auto how = "write user=NAME, api_key=KEY, ip=ADDRESS, ip=NETWORK/BITS or header:NAME=VALUE";
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals + 1 == text.size()) {
    return failure("identity", "names no identity: " + std::string(how));
  }
  const std::string_view name = text.substr(0, equals);
  BlockedIdentity identity{.value = std::string(text.substr(equals + 1))};
  if (name == "user") return identity;
  if (name == "api_key") {
    identity.kind = Kind::api_key;
    return identity;
  }
  if (name == "ip") {
    identity.kind = Kind::ip;
    const auto range = text::AddressRange::parse(identity.value);
    if (!range) return failure("identity", "ip: " + range.error().message());
    identity.range = *range;
    return identity;
  }
  if (!name.starts_with(header_prefix)) return failure("identity", "unknown identity: " + std::string(how));
  identity.kind = Kind::header;
  auto header = text::parse_header_name(name.substr(header_prefix.size()));
  if (!header) return failure("identity", "invalid header name: write header:NAME=VALUE");
  identity.header = std::move(*header);
  return identity;
}

std::string BlockedIdentity::text() const {
  switch (kind) {
    case Kind::user:
      return "user=" + value;
    case Kind::api_key:
      return "api_key=" + value;
    case Kind::ip:
      return "ip=" + range.text();
    case Kind::header:
      break;
  }
  return std::string(header_prefix) + header + "=" + value;
}

void Blocks::set(const BlockedIdentity& identity, Block block) {
  std::string key;
  write_identity(key, identity);
  if (!blocks_.insert_or_assign(key, std::move(block)).second) return;
  if (identity.kind == BlockedIdentity::Kind::ip) {
    const auto is_same = [&](const Prefix& each) {
      return each.family == identity.range.network.family && each.length == identity.range.prefix;
    };
    auto found = std::ranges::find_if(prefixes_, is_same);
    if (found == prefixes_.end()) {
      prefixes_.push_back({identity.range.network.family, identity.range.prefix});
      found = prefixes_.end() - 1;
    }
    ++found->blocks;
  } else if (identity.kind == BlockedIdentity::Kind::header) {
    auto found = std::ranges::find(headers_, identity.header, &std::pair<std::string, std::size_t>::first);
    if (found == headers_.end()) {
      headers_.emplace_back(identity.header, 0);
      found = headers_.end() - 1;
    }
    ++found->second;
  }
}

void Blocks::erase(const BlockedIdentity& identity) {
  std::string key;
  write_identity(key, identity);
  if (blocks_.erase(key) == 0) return;
  if (identity.kind == BlockedIdentity::Kind::ip) {
    std::erase_if(prefixes_, [&](Prefix& each) {
      const bool is_same = each.family == identity.range.network.family && each.length == identity.range.prefix;
      return is_same && --each.blocks == 0;
    });
  } else if (identity.kind == BlockedIdentity::Kind::header) {
    std::erase_if(headers_, [&](auto& each) { return each.first == identity.header && --each.second == 0; });
  }
}

const Block* Blocks::at(std::string_view key, Instant now) const {
  const auto found = blocks_.find(key);
  return found == blocks_.end() || found->second.expires_at <= now ? nullptr : &found->second;
}

template <class Applies>
const Block* Blocks::of_address(const text::Address& address, Instant now, std::string& buffer,
                                const Applies& applies) const {
  for (const Prefix& prefix : prefixes_) {
    if (prefix.family != address.family) continue;
    write_range(buffer, address.network(prefix.length), prefix.length);
    if (const Block* const block = applies(at(buffer, now))) return block;
  }
  return nullptr;
}

// A request hides its address by contradictory or invalid headers: then every block of an address applies to it.
template <class Applies>
const Block* Blocks::any_of_addresses(Instant now, const Applies& applies) const {
  for (const auto& [key, block] : blocks_) {
    if (key.front() != tag_of(BlockedIdentity::Kind::ip) || block.expires_at <= now) continue;
    if (applies(&block) != nullptr) return &block;
  }
  return nullptr;
}

// A duplicate header counts as absent elsewhere. Here each of its values is compared, so that repeating a header does
// not evade a block.
template <class Applies>
const Block* Blocks::of_headers(const BlockQuery& query, std::string& buffer, const Applies& applies) const {
  for (const Header& header : query.query.headers) {
    if (base::equals_lower(header.name, query.identity.api_key_header)) {
      write_value(buffer, BlockedIdentity::Kind::api_key, header.value);
      if (const Block* const block = applies(at(buffer, query.now))) return block;
    }
    for (const auto& [name, blocks] : headers_) {
      if (!base::equals_lower(header.name, name)) continue;
      write_header(buffer, name, header.value);
      if (const Block* const block = applies(at(buffer, query.now))) return block;
    }
  }
  return nullptr;
}

const Block* Blocks::find(const BlockQuery& query, PathReader& paths, std::string& buffer) const {
  const auto applies = [&](const Block* block) -> const Block* {
    return block != nullptr && covers(*block, query.query, paths) ? block : nullptr;
  };
  const auto of_value = [&](BlockedIdentity::Kind kind, std::string_view value) -> const Block* {
    if (value.empty()) return nullptr;
    write_value(buffer, kind, value);
    return applies(at(buffer, query.now));
  };
  if (const Block* const block = of_value(BlockedIdentity::Kind::user, query.caller.user)) return block;
  if (const Block* const block = of_value(BlockedIdentity::Kind::api_key, query.caller.api_key)) return block;
  if (const Block* const block = of_headers(query, buffer, applies)) return block;
  if (!query.caller.address || prefixes_.empty()) return nullptr;
  if (!query.caller.address_known) return any_of_addresses(query.now, applies);
  return of_address(*query.caller.address, query.now, buffer, applies);
}

const Block* Blocks::find(std::string_view consumer_key, Instant now, std::string& buffer) const {
  using Kind = policy::KeyPart::Kind;
  const Block* found = nullptr;
  const auto applies = [](const Block* block) -> const Block* {
    return block != nullptr && block->routes == nullptr ? block : nullptr;
  };
  for_each_part(consumer_key, [&](const policy::KeyPart& part, std::string_view value) {
    const Block* block = nullptr;
    if (part.kind == Kind::user || part.kind == Kind::api_key) {
      write_value(buffer, part.kind == Kind::user ? BlockedIdentity::Kind::user : BlockedIdentity::Kind::api_key,
                  value);
      block = applies(at(buffer, now));
    } else if (part.kind == Kind::header) {
      write_header(buffer, part.name, value);
      block = applies(at(buffer, now));
    } else if (part.kind == Kind::ip) {
      const auto range = text::AddressRange::parse(value);
      if (range) block = of_address(range->network, now, buffer, applies);
    }
    if (block != nullptr) found = block;
  });
  return found;
}

// --- all exceptions

Exceptions::OfLimit& Exceptions::make(std::uint32_t limit) {
  if (limits_.size() <= limit) limits_.resize(limit + 1);
  if (limits_[limit] == nullptr) limits_[limit] = std::make_unique<OfLimit>();
  return *limits_[limit];
}

void Exceptions::trim(std::uint32_t limit) {
  if (limit >= limits_.size() || limits_[limit] == nullptr) return;
  if (limits_[limit]->overrides.size() + limits_[limit]->grants.size() == 0) limits_[limit].reset();
  while (!limits_.empty() && limits_.back() == nullptr) limits_.pop_back();
}

AppliedReplacement Exceptions::find(const OfLimit& tables, std::string_view key, Instant now) noexcept {
  for (const ReplacementTable* const table : {&tables.grants, &tables.overrides}) {
    if (table->size() == 0) continue;
    const ReplacementTable::Entry* const entry = table->find(key);
    if (entry != nullptr && entry->expires_at > now) return {&entry->replacement, entry->number};
  }
  return {};
}

}  // namespace weir::match
