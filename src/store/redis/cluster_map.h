// Which master serves which slot, as CLUSTER SLOTS says it. A plain value; not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "net/endpoint.h"
#include "store/redis/cluster_slot.h"
#include "weir/result.h"
#include "wire/resp/reply.h"

namespace weir::store::redis {

class ClusterMap {
 public:
  ClusterMap() : master_of_slot_(cluster_slots, nobody) {}

  // `asked`: the server that said it; where it leaves a host out, it means its own.
  [[nodiscard]] static Result<ClusterMap> read(const wire::resp::Reply& reply, const net::Endpoint& asked);

  // Null if nobody serves it, or nobody knows where he is. `slot` < cluster_slots.
  [[nodiscard]] const net::Endpoint* master_of(std::uint16_t slot) const noexcept;

  // Each once, in the order of their first slots.
  [[nodiscard]] std::span<const net::Endpoint> masters() const noexcept { return masters_; }
  [[nodiscard]] bool complete() const noexcept;

 private:
  static constexpr std::uint16_t nobody = 0xffff;

  [[nodiscard]] std::uint16_t number_of(net::Endpoint master);

  std::vector<std::uint16_t> master_of_slot_;  // an index into masters_
  std::vector<net::Endpoint> masters_;
};

}  // namespace weir::store::redis
