// Receipts on a real Redis, with the store alone and with the wrapping stores: same results as the core.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "store/leased/leased_store.h"
#include "store/outage/outage_store.h"
#include "tests/set_clock.h"
#include "tests/store/receipt_suite.h"
#include "tests/store_redis/script_server.h"

namespace weir::store::redis {
namespace {

enum class Around : std::uint8_t { nothing, outage, leased };

ScriptStore& script_store() {
  static ScriptStore one;
  return one;
}

class ReceiptsConformance : public testing::TestWithParam<Around> {
 protected:
  Store& store() {
    switch (GetParam()) {
      case Around::outage:
        return outage_;
      case Around::leased:
        return leased_;
      case Around::nothing:
        break;
    }
    return script_store();
  }

  // Far ahead of the real time, by which the server expires keys.
  const Instant start_{std::chrono::days(365 * 90)};
  SetClock clock_{start_};

 private:
  std::atomic<bool> has_charges_ = false;
  OutageStore outage_{script_store(), clock_, std::chrono::seconds(10), has_charges_};
  LeasedStore leased_{script_store()};
};

TEST_P(ReceiptsConformance, ReceiptsMatchTheCore) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    script_store().server.ask({"FLUSHALL"});
    ReceiptSuite suite(seed, start_);
    suite.run(200, [&](Group& group, Instant now) {
      group.now = now;
      clock_.set(now);
      script_store().now = now;
      store().submit(group);
    });
    if (HasFatalFailure()) return;
  }
}

std::string name_of_store(const testing::TestParamInfo<Around>& info) {
  constexpr std::array names{"redis", "outage", "leased"};
  return names[static_cast<std::size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Stores, ReceiptsConformance, testing::Values(Around::nothing, Around::outage, Around::leased),
                         name_of_store);

}  // namespace
}  // namespace weir::store::redis
