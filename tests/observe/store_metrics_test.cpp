#include "observe/metrics.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/temporary_folder.h"

namespace weir::observe {
namespace {

using store::BreakerState;
using store::StoreCounts;
using store::StoreError;

class StoreMetrics : public testing::Test {
 protected:
  std::string page() const {
    const std::array loops{&first_, &second_};
    MetricsPage page;
    append_store_metrics(page, loops, {100, 50, 20, 7, 3, 2});
    return page.take();
  }
  bool has_line(const std::string& line) const { return page().find("\n" + line + "\n") != std::string::npos; }

  StoreCounts first_;
  StoreCounts second_;
};

TEST_F(StoreMetrics, AddUpWhatLoopsDid) {
  first_.of(StoreError::timeout).raise(2);
  second_.of(StoreError::timeout).raise(3);
  first_.batch_size.add(64);
  second_.batch_size.add(1);
  second_.round_trip.add(99);
  first_.evaluations.raise(5);
  first_.late_answers.raise();
  second_.refunds.raise(2);
  second_.lost_refunds.raise();
  first_.opened.raise(4);
  second_.closed.raise(4);
  for (const char* line : {
           R"(weir_store_decisions_total{path="shared"} 100)",
           R"(weir_store_decisions_total{path="leased"} 50)",
           R"(weir_store_decisions_total{path="approximate"} 20)",
           R"(weir_store_decisions_total{path="local"} 7)",
           R"(weir_store_decisions_total{path="open"} 3)",
           R"(weir_store_decisions_total{path="closed"} 2)",
           R"(weir_store_errors_total{kind="timeout"} 5)",
           R"(weir_store_errors_total{kind="disagreement"} 0)",
           R"(weir_store_batch_size_bucket{le="1"} 1)",
           R"(weir_store_batch_size_bucket{le="64"} 2)",
           R"(weir_store_batch_size_sum 65)",
           R"(weir_store_round_trip_seconds_bucket{le="0.00005"} 0)",
           R"(weir_store_round_trip_seconds_bucket{le="0.0001"} 1)",
           R"(weir_store_round_trip_seconds_sum 0.000099)",
           R"(weir_store_evaluations_total 5)",
           R"(weir_store_late_answers_total 1)",
           R"(weir_store_refunds_total{outcome="done"} 2)",
           R"(weir_store_refunds_total{outcome="lost"} 1)",
           R"(weir_store_breaker_transitions_total{to="open"} 4)",
           R"(weir_store_breaker_transitions_total{to="closed"} 4)",
       }) {
    EXPECT_TRUE(has_line(line)) << line << "\n" << page();
  }
}

TEST_F(StoreMetrics, TellTheWorstOfWhatAllLoopsSee) {
  for (StoreCounts* counts : {&first_, &second_}) {
    counts->servers.set(3);
    counts->connected.set(3);
    counts->of(BreakerState::closed).set(3);
  }
  EXPECT_TRUE(has_line("weir_store_breaker_state 0"));
  second_.connected.set(2);
  second_.of(BreakerState::closed).set(2);
  second_.of(BreakerState::half_open).set(1);
  EXPECT_TRUE(has_line("weir_store_breaker_state 1"));
  second_.of(BreakerState::half_open).set(0);
  second_.of(BreakerState::open).set(1);
  EXPECT_TRUE(has_line("weir_store_breaker_state 2"));
  EXPECT_TRUE(has_line("weir_store_servers 3"));
  EXPECT_TRUE(has_line("weir_store_connected 2"));
}

TEST_F(StoreMetrics, CountOneEvictionOnceThoughEveryLoopHearsOfIt) {
  first_.evicted_keys.raise(10);
  second_.evicted_keys.raise(9);
  first_.evicting.set(1);
  second_.evicting.set(1);
  EXPECT_TRUE(has_line("weir_store_evicted_keys_total 10"));
  EXPECT_TRUE(has_line("weir_store_evicting_servers 1"));
}

TEST_F(StoreMetrics, SayWhichWayTheClockIsOff) {
  first_.clock_offset.set(20);
  EXPECT_TRUE(has_line("weir_store_clock_offset_seconds 0.00002"));
  second_.clock_offset.set(-3'600'000'001);
  EXPECT_TRUE(has_line("weir_store_clock_offset_seconds -3600.000001"));
}

TEST_F(StoreMetrics, AreFineWithPromtool) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "page").string();
  std::ofstream(file) << page();
  const int status = std::system(("promtool check metrics <" + file).c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0) << "script/setup installs promtool";
}

}  // namespace
}  // namespace weir::observe
