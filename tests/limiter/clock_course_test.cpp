// How steady time follows the wall clock, row by row: (steady, wall) -> our time.
#include "limiter/clock_course.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::limiter {
namespace {

constexpr std::int64_t second = 1'000'000;

// Our time at a steady time; afterwards the course is corrected by the wall clock.
struct Row {
  std::int64_t steady;
  std::int64_t expected;
  std::int64_t wall;
};

void expect_rows(ClockCourse course, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(course.at(row.steady), row.expected) << "at " << row.steady;
    course = course.corrected({.steady = row.steady, .wall = row.wall});
  }
}

TEST(ClockCourse, BeginsAtTheWallClockAndRunsAtItsSpeed) {
  const auto course = ClockCourse::beginning({.steady = 500, .wall = 7000});
  EXPECT_EQ(course.at(500), 7000);
  EXPECT_EQ(course.at(501), 7001);
  EXPECT_EQ(course.at(500 + second), 7000 + second);
}

TEST(ClockCourse, StepForwardIsTakenAtOnce) {
  expect_rows(ClockCourse::beginning({0, 0}), {
                                                  {1 * second, 1 * second, 61 * second},
                                                  {1 * second, 61 * second, 61 * second},
                                                  {2 * second, 62 * second, 62 * second},
                                              });
}

TEST(ClockCourse, StepBackIsCaughtUpAtHalfSpeed) {
  const auto course = ClockCourse::beginning({0, 100 * second}).corrected({10 * second, 107 * second});  // 3 s behind
  EXPECT_EQ(course.at(10 * second), 110 * second);
  EXPECT_EQ(course.at(11 * second), 110 * second + second / 2);
  EXPECT_EQ(course.at(16 * second), 113 * second);  // the wall clock's time
  EXPECT_EQ(course.at(17 * second), 114 * second);  // at full speed again
}

TEST(ClockCourse, CatchingUpGoesOnOverLaterMeasurements) {
  expect_rows(ClockCourse::beginning({0, 0}), {
                                                  {10 * second, 10 * second, 7 * second},
                                                  {12 * second, 11 * second, 9 * second},
                                                  {14 * second, 12 * second, 11 * second},
                                                  {16 * second, 13 * second, 13 * second},
                                                  {18 * second, 15 * second, 15 * second},
                                              });
}

TEST(ClockCourse, StepForwardEndsTheCatchingUp) {
  expect_rows(ClockCourse::beginning({0, 0}), {
                                                  {10 * second, 10 * second, 0},
                                                  {12 * second, 11 * second, 30 * second},
                                                  {13 * second, 31 * second, 31 * second},
                                              });
}

TEST(ClockCourse, NeverGoesBackWhateverTheWallClockSays) {
  auto course = ClockCourse::beginning({0, 0});
  std::int64_t before = course.at(0);
  std::int64_t wall = 0;
  for (std::int64_t steady = 1; steady < 3000; ++steady) {
    ASSERT_GE(course.at(steady), before);
    ASSERT_LE(course.at(steady), before + 1);
    wall += steady % 7 == 0 ? -50 : 3;
    course = course.corrected({.steady = steady, .wall = wall});
    ASSERT_GE(course.at(steady), wall);
    ASSERT_GE(course.at(steady), before);
    before = course.at(steady);
  }
}

TEST(ClockCourse, RunsAtLeastAtHalfSpeed) {
  const auto course = ClockCourse::beginning({0, 1000 * second}).corrected({0, 0});
  for (std::int64_t steady = 0; steady < 1000; ++steady) EXPECT_GE(course.at(steady) - 1000 * second, steady / 2);
}

TEST(ClockCourse, AReadingBeforeTheStartOfTheCourseReturnsItsStart) {
  EXPECT_EQ(ClockCourse::beginning({500, 7000}).at(499), 7000);
}

}  // namespace
}  // namespace weir::limiter
