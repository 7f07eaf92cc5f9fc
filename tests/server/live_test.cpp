// Live with one sample per second on a manual clock.
#include "server/live.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace weir::server {
namespace {

using namespace std::chrono_literals;
using observe::Notice;
using observe::StoreState;

class LiveTest : public testing::Test {
 protected:
  static constexpr Instant began{1'767'614'400s};

  // Adds a second with `decisions` of `api`.
  void second(std::uint64_t decisions, StoreState store = StoreState::local,
              std::map<std::string, std::uint64_t> overflowed = {}) {
    now_ += 1s;
    total_ += decisions;
    Live::Sample sample;
    sample.at = now_;
    sample.totals.traffic.requests = total_;
    sample.totals.traffic.by_limit["api"] = {total_, 0, 0};
    sample.gauges.store = store;
    sample.store_error = "no answer";
    sample.overflowed = std::move(overflowed);
    const observe::TopDenied* const denied = &denied_;
    sample.denied = {denied};
    live_.add(std::move(sample));
  }
  std::vector<std::string> told() const {
    std::vector<std::string> messages;
    for (const Notice& notice : live_.notices().newest(100)) messages.insert(messages.begin(), notice.message);
    return messages;
  }
  std::string logged() {
    writer_.flush();
    std::ifstream file(folder_.path() / "log");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_;
  observe::LogWriter writer_{{}, *observe::LogFile::open((folder_.path() / "log").string())};
  observe::TopDenied denied_;
  Live live_{began, writer_, 1 << 20};
  Instant now_ = began;
  std::uint64_t total_ = 0;
};

TEST_F(LiveTest, SecondsAreKeptAndPublished) {
  second(5);
  second(7);
  const auto seconds = live_.history().seconds();
  ASSERT_EQ(seconds.size(), 2U);
  EXPECT_EQ(seconds[1].counts.decisions, 7U);
  std::string sent;
  EXPECT_EQ(live_.feed().append_after(0, sent), 2U);
  EXPECT_NE(sent.find("id: 1767614401\n"), std::string::npos) << sent;
  EXPECT_NE(sent.find(R"("requests":7,)"), std::string::npos) << sent;
}

TEST_F(LiveTest, IdsRiseWhenTheClockStepsBack) {
  second(1);
  now_ -= 1h;
  second(1);
  std::string sent;
  (void)live_.feed().append_after(1, sent);
  EXPECT_TRUE(sent.starts_with("id: 1767614402\n")) << sent;
}

TEST_F(LiveTest, FivefoldStepIsToldWithinSecondsEverywhere) {
  live_.spikes().set_limits(std::vector<std::string>{"api"});
  for (int i = 0; i < 400; ++i) second(100);
  EXPECT_TRUE(told().empty());
  for (int i = 0; i < 4; ++i) second(500);
  ASSERT_EQ(told().size(), 1U);
  const Notice notice = live_.notices().newest(1)[0];
  EXPECT_EQ(notice.kind, Notice::Kind::spike);
  EXPECT_EQ(notice.limit, "api");
  EXPECT_EQ(notice.message, "api: 233 decisions per second over 3 s; at most 100 in the hour before");
  EXPECT_NE(logged().find(R"("event":"spike","limit":"api","rate":233,"past":100,"seconds":3})"), std::string::npos)
      << logged();
  EXPECT_EQ(live_.spikes().counts().at("api").limits, 1U);
  std::string sent;
  (void)live_.feed().append_after(0, sent);
  EXPECT_NE(sent.find(R"("kind":"spike")"), std::string::npos) << sent;
}

TEST_F(LiveTest, ConsumersThatAreDeniedAtOnceAreToldTenAMinute) {
  const std::string limit = "api";
  for (int i = 0; i < 301; ++i) second(1);
  for (std::uint64_t consumer = 1; consumer <= 30; ++consumer) {
    for (int i = 0; i < 40; ++i) {
      denied_.count(limit, consumer, now_, [&](std::string& name) { name = "ip:" + std::to_string(consumer); });
    }
  }
  second(1);
  EXPECT_EQ(told().size(), 10U);
  EXPECT_EQ(live_.spikes().counts().at("api").consumers, 30U);
  EXPECT_TRUE(live_.notices().newest(1)[0].consumer.starts_with("ip:"));
}

TEST_F(LiveTest, StoreThatGoesAndComesIsTold) {
  second(1, StoreState::closed);
  second(1, StoreState::open);
  second(1, StoreState::open);
  second(1, StoreState::half_open);
  second(1, StoreState::closed);
  EXPECT_EQ(told(), (std::vector<std::string>{"store unavailable: circuit breaker open; no answer",
                                              "store probed: circuit breaker half-open",
                                              "store available: circuit breaker closed"}));
}

TEST_F(LiveTest, SharedStatesAreToldOnceAnHour) {
  second(1, StoreState::local, {{"api", 1}});
  second(1, StoreState::local, {{"api", 2}});
  EXPECT_EQ(told().size(), 1U);
  now_ += 1h;
  second(1, StoreState::local, {{"api", 2}});
  EXPECT_EQ(told().size(), 1U);
  second(1, StoreState::local, {{"api", 3}});
  EXPECT_EQ(told().size(), 2U);
}

TEST_F(LiveTest, ChangesAreLoggedAndToldOnce) {
  live_.changed(began, {.what = "reset", .limit = "api", .consumer = "user:1f", .outcome = "done"});
  live_.changed(began, {.what = "reload", .outcome = "done"});
  EXPECT_EQ(told(), (std::vector<std::string>{"operator requested reset of api: done"}));
  EXPECT_NE(logged().find(R"("event":"change","what":"reload")"), std::string::npos);
}

}  // namespace
}  // namespace weir::server
