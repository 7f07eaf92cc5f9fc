// The order in which entries leave, and their times.
#include "simulate/line_order.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::simulate {
namespace {

using namespace std::chrono_literals;

struct Given {
  Duration at;
  std::string name;  // used as the target
  Grain grain = Grain::finer;
};

struct Left {
  Duration at;
  std::string name;

  friend bool operator==(const Left&, const Left&) = default;
  friend void PrintTo(const Left& left, std::ostream* out) { *out << left.name << " at " << left.at.count() << " us"; }
};

class Replay {
 public:
  explicit Replay(OrderBounds bounds, WholeSeconds seconds = WholeSeconds::spread) : order_(bounds, seconds) {}

  void push(const Given& given) {
    order_.push({.at = Instant{given.at}, .target = given.name, .grain = given.grain});
    drain();
  }

  std::vector<Left> finish() {
    order_.finish();
    drain();
    return left_;
  }

  [[nodiscard]] const std::vector<Left>& left() const { return left_; }
  [[nodiscard]] const LineOrder& order() const { return order_; }

 private:
  void drain() {
    while (const LogEntry* entry = order_.pop()) {
      left_.push_back({entry->at.time_since_epoch(), std::string(entry->target)});
    }
  }

  LineOrder order_;
  std::vector<Left> left_;
};

TEST(LineOrder, EntryLeavesOnceTheLogIsASpanPastIt) {
  Replay replay({.span = 5s}, WholeSeconds::stacked);
  replay.push({1s, "a"});
  replay.push({5999ms, "b"});
  EXPECT_TRUE(replay.left().empty());
  replay.push({6s, "c"});
  EXPECT_EQ(replay.left(), (std::vector<Left>{{1s, "a"}}));
  EXPECT_EQ(replay.order().waiting(), 2U);
  EXPECT_EQ(replay.finish(), (std::vector<Left>{{1s, "a"}, {5999ms, "b"}, {6s, "c"}}));
  EXPECT_EQ(replay.order().out_of_order(), 0U);
}

TEST(LineOrder, EntriesOutOfOrderWithinTheSpanLeaveInOrder) {
  Replay replay({.span = 5s}, WholeSeconds::stacked);
  for (const Given& given : {Given{4s, "d"}, {2s, "b"}, {3s, "c"}, {1s, "a"}, {6s, "f"}, {5s, "e"}}) replay.push(given);
  EXPECT_EQ(replay.finish(), (std::vector<Left>{{1s, "a"}, {2s, "b"}, {3s, "c"}, {4s, "d"}, {5s, "e"}, {6s, "f"}}));
  EXPECT_EQ(replay.order().out_of_order(), 4U);
  EXPECT_EQ(replay.order().late(), 0U);
}

TEST(LineOrder, EqualTimesKeepTheOrderOfTheLog) {
  Replay replay({.span = 5s}, WholeSeconds::stacked);
  for (const Given& given : {Given{2s, "b1"}, {1s, "a1"}, {2s, "b2"}, {1s, "a2"}, {2s, "b3"}}) replay.push(given);
  EXPECT_EQ(replay.finish(), (std::vector<Left>{{1s, "a1"}, {1s, "a2"}, {2s, "b1"}, {2s, "b2"}, {2s, "b3"}}));
}

TEST(LineOrder, LateEntryGetsTheTimeOfTheLastOneThatLeft) {
  Replay replay({.span = 5s}, WholeSeconds::stacked);
  for (const Given& given : {Given{10s, "a"}, {12s, "b"}, {17s, "c"}, {11s, "late"}, {17s, "d"}}) replay.push(given);
  EXPECT_EQ(replay.finish(), (std::vector<Left>{{10s, "a"}, {12s, "b"}, {12s, "late"}, {17s, "c"}, {17s, "d"}}));
  EXPECT_EQ(replay.order().late(), 1U);
}

TEST(LineOrder, EntryBeyondTheSpanIsInOrderIfNothingLaterHasLeft) {
  Replay replay({.span = 5s}, WholeSeconds::stacked);
  for (const Given& given : {Given{100s, "b"}, {50s, "a"}}) replay.push(given);
  EXPECT_EQ(replay.finish(), (std::vector<Left>{{50s, "a"}, {100s, "b"}}));
  EXPECT_EQ(replay.order().late(), 0U);
}

TEST(LineOrder, BeyondTheBoundsTheEarliestLeavesEarly) {
  Replay replay({.span = 1h, .max_entries = 2}, WholeSeconds::stacked);
  for (const Given& given : {Given{3s, "c"}, {1s, "a"}, {2s, "b"}, {4s, "d"}}) replay.push(given);
  EXPECT_EQ(replay.left(), (std::vector<Left>{{1s, "a"}, {2s, "b"}}));
  EXPECT_EQ(replay.order().left_early(), 2U);

  Replay heavy({.span = 1h, .max_bytes = std::size_t{1} << 20}, WholeSeconds::stacked);
  for (int i = 0; i < 1000; ++i) heavy.push({Duration{i}, std::string(10'000, 'x')});
  EXPECT_LT(heavy.order().waiting(), 110U);
  EXPECT_EQ(heavy.finish().size(), 1000U);
}

TEST(LineOrder, EntriesOfAWholeSecondAreSpreadOverItInTheOrderOfTheLog) {
  Replay replay({.span = 5s});
  const Grain second = Grain::second;
  for (const Given& given : {Given{1s, "a", second},
                             {2s, "e", second},
                             {1s, "b", second},
                             {1s, "c", second},
                             {3s, "f", second},
                             {1s, "d", second}}) {
    replay.push(given);
  }
  EXPECT_EQ(replay.finish(),
            (std::vector<Left>{{1s, "a"}, {1250ms, "b"}, {1500ms, "c"}, {1750ms, "d"}, {2s, "e"}, {3s, "f"}}));
}

TEST(LineOrder, WholeSecondIsSpreadEvenWithoutASpan) {
  Replay replay({.span = 0s});
  for (const Given& given : {Given{1s, "a", Grain::second}, {1s, "b", Grain::second}, {2s, "c", Grain::second}}) {
    replay.push(given);
  }
  EXPECT_EQ(replay.left(), (std::vector<Left>{{1s, "a"}, {1500ms, "b"}}));
}

TEST(LineOrder, StackedEntriesStayAtTheStartOfTheirSecond) {
  Replay replay({.span = 0s}, WholeSeconds::stacked);
  for (const Given& given : {Given{1s, "a", Grain::second}, {1s, "b", Grain::second}}) replay.push(given);
  EXPECT_EQ(replay.left(), (std::vector<Left>{{1s, "a"}, {1s, "b"}}));
}

TEST(LineOrder, FinerTimesAreNotMoved) {
  Replay replay({.span = 0s});
  for (const Given& given : {Given{1s, "a"}, {1s, "b"}, {1010ms, "c"}}) replay.push(given);
  EXPECT_EQ(replay.finish(), (std::vector<Left>{{1s, "a"}, {1s, "b"}, {1010ms, "c"}}));
}

TEST(LineOrder, LateEntryOfASpreadSecondDoesNotDecreaseTheTime) {
  Replay replay({.span = 0s});
  const Grain second = Grain::second;
  for (const Given& given :
       {Given{1s, "a", second}, {1s, "b", second}, {2s, "c", second}, {1s, "late", second}, {3s, "d", second}}) {
    replay.push(given);
  }
  EXPECT_EQ(replay.finish(), (std::vector<Left>{{1s, "a"}, {1500ms, "b"}, {1500ms, "late"}, {2s, "c"}, {3s, "d"}}));
}

TEST(LineOrder, EntryOutlivesItsLine) {
  LineOrder order({.span = 5s});
  {
    std::string text = "1.2.3.4 alice key gold GET /x X-Plan pro X-Empty";
    const std::string_view view = text;
    const std::vector<Header> headers{{view.substr(30, 6), view.substr(37, 3)}, {view.substr(41, 7), {}}};
    order.push({.at = Instant{1s},
                .ip = view.substr(0, 7),
                .user = view.substr(8, 5),
                .api_key = view.substr(14, 3),
                .tier = view.substr(18, 4),
                .method = view.substr(23, 3),
                .target = view.substr(27, 2),
                .headers = headers,
                .status = 429});
    text.assign(text.size(), '#');
  }
  order.push({.at = Instant{9s}, .target = "/"});
  const LogEntry* entry = order.pop();
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->ip, "1.2.3.4");
  EXPECT_EQ(entry->user, "alice");
  EXPECT_EQ(entry->api_key, "key");
  EXPECT_EQ(entry->tier, "gold");
  EXPECT_EQ(entry->method, "GET");
  EXPECT_EQ(entry->target, "/x");
  EXPECT_EQ(entry->status, 429);
  ASSERT_EQ(entry->headers.size(), 2U);
  EXPECT_EQ(entry->headers[0], (Header{"X-Plan", "pro"}));
  EXPECT_EQ(entry->headers[1], (Header{"X-Empty", ""}));
}

TEST(LineOrder, MemoryOfPoppedEntriesIsReused) {
  EntryStore store;
  const std::string large(400'000, 'x');
  for (int round = 0; round < 10; ++round) {
    std::vector<EntryStore::Stored> stored;
    for (int i = 0; i < 5'000; ++i) stored.push_back(store.add({.target = "/some/path"}));
    stored.push_back(store.add({.target = large}));
    EXPECT_LT(store.bytes_in_use(), std::size_t{3} << 20);
    for (const auto& entry : stored) store.release(entry);
    EXPECT_EQ(store.bytes_in_use(), 0U);
  }
}

}  // namespace
}  // namespace weir::simulate
