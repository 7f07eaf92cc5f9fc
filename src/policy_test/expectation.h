// Compares the answers to a step with its expectation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/verdict.h"
#include "policy/ruleset.h"
#include "policy_test/scenario_run.h"
#include "policy_test/test_file.h"
#include "weir/time.h"

namespace weir::policy_test {

// One of the repetitions of a step.
struct Repetition {
  std::uint64_t number = 1;  // from one
  Instant at{};
};

// Compares the verdicts on the repetitions of a step, which are added in order.
class StepCheck {
 public:
  // `start` is that of the scenario. All arguments must outlive the check.
  StepCheck(const Step& step, const policy::Ruleset& ruleset, Instant start) noexcept
      : step_(step), ruleset_(ruleset), start_(start) {}

  // False if the repetition contradicts the expectation: those that follow need not be sent.
  [[nodiscard]] bool add(const engine::Verdict& verdict, Repetition repetition);
  // Compares the result of a settle, release or extend.
  void add_result(std::string_view result, Repetition repetition);

  // Empty if everything is as expected.
  [[nodiscard]] std::vector<TestFailure> take_failures() noexcept { return std::move(failures_); }

 private:
  [[nodiscard]] bool is_last(Repetition repetition) const noexcept { return repetition.number == step_.times; }
  void fail(Mark at, std::string message) { failures_.push_back({at, std::move(message)}); }
  [[nodiscard]] std::string request_text(Repetition repetition) const;
  void check_each(const engine::Verdict& verdict, Repetition repetition);
  void check_counts();
  void check_last(const engine::Verdict& verdict, Repetition repetition);
  void check_limits(const engine::Verdict& verdict, std::string_view request);
  void check_headers(const engine::Verdict& verdict, std::string_view request);

  const Step& step_;
  const policy::Ruleset& ruleset_;
  const Instant start_;
  std::uint64_t admitted_ = 0;
  std::map<std::string, std::uint64_t> denied_by_;
  std::uint64_t denied_ = 0;
  std::vector<TestFailure> failures_;
};

}  // namespace weir::policy_test
