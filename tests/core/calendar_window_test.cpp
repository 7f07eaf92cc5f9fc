// Fixed windows with the edges of a calendar.
#include <array>

#include "core/calendar.h"
#include "tests/core/rows.h"

namespace weir::core {
namespace {

// Windows between the given edges, in seconds.
class GivenCalendar final : public Calendar {
 public:
  explicit GivenCalendar(std::vector<int> edges) : Calendar(CalendarUnit::day, "here"), edges_(std::move(edges)) {}

  mutable unsigned asked = 0;

 private:
  [[nodiscard]] WindowEdges find(std::int64_t now) const noexcept override {
    ++asked;
    std::size_t next = 2;
    while (next + 2 < edges_.size() && micros_of(edges_[next]) <= now) ++next;
    found_[asked % 2] = {micros_of(edges_[next - 2]), micros_of(edges_[next - 1]), micros_of(edges_[next]),
                         micros_of(edges_[next + 1])};
    remember(found_[asked % 2]);
    return found_[asked % 2];
  }
  static std::int64_t micros_of(int edge) noexcept { return Duration{std::chrono::seconds{edge}}.count(); }

  std::vector<int> edges_;
  mutable std::array<WindowEdges, 2> found_{};
};

weir::Limit calendar_limit(std::uint64_t limit, const Calendar& calendar) {
  return weir::Limit::fixed_window(limit, calendar).value();
}

TEST(CalendarWindow, CountsBetweenTheEdgesThatAreGiven) {
  const GivenCalendar days({0, 10, 33, 58, 82, 106});
  expect_rows<FixedWindow>(calendar_limit(3, days), {
                                                        {12s, 2, admitted(1, 21s)},
                                                        {32s, 2, denied(1, 1s, 1s)},
                                                        {33s - 1us, 1, admitted(0, 1us)},
                                                        {33s, 0, admitted(3, 0s)},
                                                        {33s, 3, admitted(0, 25s)},
                                                        {57s, 1, denied(0, 1s, 1s)},
                                                        {57s, 4, refused(0, 1s)},
                                                        {58s, 1, admitted(2, 24s)},
                                                    });
}

TEST(CalendarWindow, EdgesAreAskedForOnceAWindow) {
  const GivenCalendar days({0, 10, 33, 58, 82, 106});
  Subject<FixedWindow> subject(calendar_limit(100, days));
  for (const Duration now : {Duration{12s}, Duration{20s}, Duration{33s - 1us}}) {
    EXPECT_TRUE(subject.decide(Cost{1}, at(now)).admitted);
  }
  EXPECT_EQ(days.asked, 1U);
  EXPECT_TRUE(subject.decide(Cost{1}, at(33s)).admitted);
  EXPECT_TRUE(subject.decide(Cost{1}, at(40s)).admitted);
  EXPECT_EQ(days.asked, 2U);
}

class CalendarWindowTest : public Story<FixedWindow> {
 protected:
  CalendarWindowTest() { limited_to(calendar_limit(3, here)); }

  GivenCalendar here{{0, 10, 33, 58, 82, 106}};
  GivenCalendar east{{0, 7, 30, 55, 79, 103}};  // each edge three seconds earlier
  GivenCalendar west{{0, 13, 36, 61, 85, 109}};
};

TEST_F(CalendarWindowTest, WhenTheClockStepsBackTheNewestWindowGoesOnCounting) {
  use(2, 35s);
  EXPECT_EQ(remaining(20s), 1U);
  EXPECT_EQ(wait_for(2, 20s), 38s);
  const Decision charge = this->charge(1, 20s);
  EXPECT_EQ(charge.charged_at, at(33s));
  refund(1, charge, 34s);
  EXPECT_EQ(remaining(35s), 1U);
}

TEST_F(CalendarWindowTest, RefundCreditsTheWindowThatWasCharged) {
  const Decision before = charge(1, 32s);
  const Decision charge = this->charge(2, 34s);
  refund(1, before, 35s);
  EXPECT_EQ(remaining(35s), 1U);
  refund(1, charge, 57s);
  EXPECT_EQ(remaining(57s), 2U);
}

TEST_F(CalendarWindowTest, DebtEndsWithItsWindow) {
  settle(0, 5, charge(0, 20s), 20s);
  EXPECT_EQ(wait_for(0, 21s), 12s);
  EXPECT_EQ(remaining(33s), 3U);
}

TEST_F(CalendarWindowTest, ZoneWhoseWindowEndsLaterTakesOverTheCount) {
  use(2, 20s);
  carry_over_to(calendar_limit(3, west), 21s);
  EXPECT_EQ(remaining(21s), 1U);
  use(1, 22s);
  EXPECT_EQ(wait_for(1, 34s), 2s);  // the end in the new zone, no longer at 33 s
  EXPECT_EQ(remaining(36s), 3U);
}

TEST_F(CalendarWindowTest, ZoneWhoseWindowEndsEarlierTakesOverTheCount) {
  use(2, 20s);
  carry_over_to(calendar_limit(3, east), 21s);
  EXPECT_EQ(remaining(21s), 1U);
  EXPECT_EQ(wait_for(2, 21s), 9s);
  EXPECT_EQ(remaining(30s), 3U);
}

// As on a shared store, where states are not updated for new numbers.
TEST_F(CalendarWindowTest, CountOfAnEarlierWindowIsNotTakenIntoTheNextOne) {
  const FixedWindow::Limit western(calendar_limit(3, west));
  const FixedWindow::Limit eastern(calendar_limit(3, east));
  FixedWindow::State state;
  EXPECT_TRUE(FixedWindow::decide(western, state, Cost{3}, at(20s)).admitted);  // until 36 s
  EXPECT_FALSE(FixedWindow::decide(eastern, state, Cost{1}, at(29s)).admitted);
  EXPECT_TRUE(FixedWindow::decide(eastern, state, Cost{2}, at(31s)).admitted) << "east has a new window since 30 s";
  EXPECT_FALSE(FixedWindow::decide(western, state, Cost{2}, at(32s)).admitted) << "and the state does not go back";
  EXPECT_EQ(state.end, Duration{55s}.count());
}

TEST_F(CalendarWindowTest, StateIsForgottenWhenItsWindowEnds) {
  use(1, 20s);
  EXPECT_EQ(forget_at(), 33s);
}

TEST(CalendarLimit, HasItsCalendarAndTheNumbersOfAWindow) {
  const GivenCalendar days({0, 10, 33, 58});
  const weir::Limit limit = calendar_limit(5, days);
  EXPECT_EQ(limit.calendar(), &days);
  EXPECT_EQ(limit.capacity(), 5U);
  EXPECT_EQ(limit.rate(), (Rate{5, 24h}));
  EXPECT_NE(limit, weir::Limit::fixed_window({5, Duration{24h}}).value());
  EXPECT_EQ(weir::Limit::fixed_window(0, days).error().where, "limit");
  EXPECT_EQ(weir::Limit::fixed_window({5, Duration{24h}})->calendar(), nullptr);
}

}  // namespace
}  // namespace weir::core
