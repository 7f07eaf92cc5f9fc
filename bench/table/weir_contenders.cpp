#include "table/weir_contenders.h"

#include <cstddef>
#include <memory>

#include "table/block_clock.h"

namespace bench::table {
namespace {

// Room for every key. Only resident memory counts towards bytes per key.
constexpr std::size_t memory_budget = std::size_t{1} << 30;

weir::KeyedLimiter keyed_limiter(Quota quota) {
  const weir::Limit limit = weir::Limit::gcra({Quota::rate, quota.burst}).value();
  return weir::KeyedLimiter::create(limit, std::make_shared<BlockClock>(), {memory_budget}).value();
}

}  // namespace

WeirSingle::WeirSingle(Quota quota) : limiter_(keyed_limiter(quota)) {}

WeirBatch::WeirBatch(Quota quota) : limiter_(keyed_limiter(quota)) {}

WeirCheckSingle::WeirCheckSingle(Quota quota) : limiter_(keyed_limiter(quota)) {}

WeirCheckBatch::WeirCheckBatch(Quota quota) : limiter_(keyed_limiter(quota)) {}

}  // namespace bench::table
