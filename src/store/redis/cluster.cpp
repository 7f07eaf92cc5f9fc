#include "store/redis/cluster.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace weir::store::redis {
namespace {

// The CRC contribution of each value of the top byte.
constexpr auto remainders = [] {
  constexpr unsigned polynomial = 0x1021;
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned remainder = byte << 8;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder << 1) ^ ((remainder & 0x8000) != 0 ? polynomial : 0);
    table[byte] = static_cast<std::uint16_t>(remainder);
  }
  return table;
}();

std::uint16_t crc16(std::string_view bytes) noexcept {
  unsigned crc = 0;
  for (const char byte : bytes) {
    crc = ((crc << 8) & 0xffff) ^ remainders[(crc >> 8) ^ static_cast<unsigned char>(byte)];
  }
  return static_cast<std::uint16_t>(crc);
}

std::string_view hashed_part(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace

std::uint16_t cluster_slot(std::string_view key) noexcept {
  return crc16(hashed_part(key)) % cluster_slots;
}
namespace {

using wire::resp::Reply;
using wire::resp::ReplyType;

tl::unexpected<Error> not_understood(const net::Endpoint& replier) {
  return failure(replier.text(), "invalid reply to CLUSTER SLOTS; check that it is a Redis server");
}

// True if `entry` is [first, last, [host, port, id, ...], replicas ...].
bool is_range(const Reply& entry) {
  if (!entry.is(ReplyType::array) || entry.size() < 3) return false;
  const Reply first = entry[0];
  const Reply last = entry[1];
  const Reply master = entry[2];
  return first.is(ReplyType::integer) && last.is(ReplyType::integer) && first.integer() >= 0 &&
         first.integer() <= last.integer() && last.integer() < cluster_slots && master.is(ReplyType::array) &&
         master.size() >= 2 && master[1].is(ReplyType::integer);
}

}  // namespace

Result<ClusterMap> ClusterMap::read(const Reply& reply, const net::Endpoint& replier) {
  if (reply.is(ReplyType::error)) {
    return failure(replier.text(), "rejected CLUSTER SLOTS: " + std::string(reply.text()));
  }
  if (!reply.is(ReplyType::array)) return not_understood(replier);
  ClusterMap map;
  for (const Reply entry : reply) {
    if (!is_range(entry)) return not_understood(replier);
    const Reply master = entry[2];
    auto address = node_address(master[0].text(), master[1].integer(), replier);  // a null host has an empty text
    const auto begin = map.master_of_slot_.begin();
    const std::uint16_t number = address ? map.number_of(std::move(*address)) : no_master;
    std::fill(begin + entry[0].integer(), begin + entry[1].integer() + 1, number);
  }
  return map;
}

std::uint16_t ClusterMap::number_of(net::Endpoint master) {
  const auto known = std::ranges::find(masters_, master);
  const auto number = static_cast<std::uint16_t>(known - masters_.begin());
  if (known == masters_.end()) masters_.push_back(std::move(master));
  return number;
}

const net::Endpoint* ClusterMap::master_of(std::uint16_t slot) const noexcept {
  const std::uint16_t number = master_of_slot_[slot];
  return number == no_master ? nullptr : &masters_[number];
}

bool ClusterMap::complete() const noexcept {
  return std::ranges::find(master_of_slot_, no_master) == master_of_slot_.end();
}

}  // namespace weir::store::redis
