#include "observe/line_gate.h"

#include <gtest/gtest.h>

#include <chrono>

namespace weir::observe {
namespace {

using namespace std::chrono_literals;

constexpr Instant noon{std::chrono::sys_days{std::chrono::year{2026} / 1 / 5} + 12h};

int passing(LineGate& gate, Instant now, int count) {
  int passed = 0;
  for (int i = 0; i < count; ++i) passed += gate.pass(now) ? 1 : 0;
  return passed;
}

TEST(LineGate, LetsSoManyPassInASecond) {
  LineGate gate(3);
  EXPECT_EQ(passing(gate, noon, 10), 3);
  EXPECT_EQ(passing(gate, noon + 999'999us, 10), 0);
  EXPECT_EQ(passing(gate, noon + 1s, 10), 3);
}

TEST(LineGate, ToldOnceWhatWasLeftOutWhenTheSecondIsOver) {
  LineGate gate(3);
  passing(gate, noon, 10);
  EXPECT_EQ(gate.take_suppressed(noon + 999'999us), 0U);
  EXPECT_EQ(gate.take_suppressed(noon + 1s), 7U);
  EXPECT_EQ(gate.take_suppressed(noon + 2s), 0U);
}

TEST(LineGate, GateOfZeroLetsNothingPassAndTellsOncePerSecond) {
  LineGate gate(0);
  EXPECT_EQ(passing(gate, noon, 5), 0);
  EXPECT_EQ(gate.take_suppressed(noon), 0U);
  EXPECT_EQ(gate.take_suppressed(noon + 1s), 5U);
}

TEST(LineGate, ThreadThatIsStillInTheSecondBeforeGetsNoRoomOfItsOwn) {
  LineGate gate(3);
  EXPECT_EQ(passing(gate, noon, 3), 3);
  EXPECT_EQ(passing(gate, noon - 1us, 3), 0);
  EXPECT_EQ(passing(gate, noon, 3), 0);
}

TEST(LineGate, ClockThatStepsBackDoesNotShutIt) {
  LineGate gate(3);
  passing(gate, noon, 10);
  EXPECT_EQ(passing(gate, noon - 1h, 10), 3);
}

}  // namespace
}  // namespace weir::observe
