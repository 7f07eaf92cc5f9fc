// The library never reads the time by itself.
// expect: no matching function for call to 'weir::Limiter::create\(const weir::Limit&\)'
#include "weir/limiter.h"

auto timeless(const weir::Limit& limit) {
  return weir::Limiter::create(limit);
}
