#include "store/local/state_id.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/core/uneven_calendar.h"
#include "weir/limit.h"

namespace weir::store {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): tests read better with 10s

// Numbers and zones may change under a state, units may not.
TEST(StateId, OfACalendarHasItsUnit) {
  const core::UnevenCalendar here(24h, 1);
  const core::UnevenCalendar there(24h, 2);
  const StateId id = state_id("api", Purpose::live, *Limit::fixed_window(10, here));
  EXPECT_EQ(id, state_id("api", Purpose::live, *Limit::fixed_window(20, there)));
  EXPECT_NE(id, state_id("api", Purpose::live, *Limit::fixed_window({10, core::nominal_length(here.unit())})));
  EXPECT_EQ(state_name(id), "limit-api.live.fixed_window.month");
}

// A new lease does not lose what is held.
TEST(StateId, OfHoldsHasNoLease) {
  const StateId id = state_id("api", Purpose::live, *Limit::concurrency({10, 60s}));
  EXPECT_EQ(id, state_id("api", Purpose::live, *Limit::concurrency({20, 5s})));
  EXPECT_EQ(id.window, Duration::zero());
  EXPECT_EQ(state_name(id), "limit-api.live.concurrency");
}

}  // namespace
}  // namespace weir::store
