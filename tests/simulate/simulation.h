// A test fixture: builds a log request by request, and simulates a policy on it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "policy/load.h"
#include "simulate/simulate.h"
#include "tests/simulate/log_file.h"

namespace weir::simulate {

inline std::shared_ptr<const policy::Ruleset> ruleset(std::string_view limits) {
  const auto loaded = policy::load_text("version: 1\nlimits:\n" + std::string(limits), "test.yaml");
  for (const auto& problem : loaded.problems) {
    EXPECT_NE(problem.severity, text::Severity::error) << problem.text();
  }
  EXPECT_NE(loaded.ruleset, nullptr);
  return loaded.ruleset;
}

struct Simulation {
  SimulateOptions options;
  std::string log;

  explicit Simulation(std::string_view limits) {
    options.policy = ruleset(limits);
    options.policy_name = "test.yaml";
    options.hash_key = {1, 2};
  }

  // `at`: milliseconds after 2023-11-14 22:13:20.
  void request(int at, std::string_view ip, std::string_view target = "/", std::string_view user = "",
               std::string_view method = "GET") {
    log += fmt::format(
        R"({{"ts":{}.{:03},"remote_addr":"{}","remote_user":"{}","request_method":"{}","request_uri":"{}"}})",
        1'700'000'000 + at / 1000, at % 1000, ip, user, method, target);
    log += '\n';
  }

  // Adds a request with a cost and a duration in milliseconds; the log then has both fields.
  void costly(int at, int cost, std::optional<int> took, std::string_view target = "/") {
    options.log.fields = FieldMap::with(std::vector<std::string>{"cost=usage.tokens", "duration_ms=took"}).value();
    const std::string length = took ? std::to_string(*took) : "null";
    log += fmt::format(
        R"({{"ts":{}.{:03},"remote_addr":"192.0.2.1","request_uri":"{}","usage":{{"tokens":{}}},"took":{}}})",
        1'700'000'000 + at / 1000, at % 1000, target, cost, length);
    log += '\n';
  }

  [[nodiscard]] Report run(const OnProgress& on_progress = {}) {
    const LogFile file(log);
    options.logs = {file.path()};
    auto report = simulate(options, on_progress);
    EXPECT_TRUE(report.has_value()) << report.error().message();
    report->log.files = {"access.log"};  // instead of the temporary path
    return *report;
  }
};

}  // namespace weir::simulate
