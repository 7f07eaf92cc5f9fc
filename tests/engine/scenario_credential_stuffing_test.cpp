// Credential stuffing: 50,000 logins in 60 s from 2,000 rotating addresses at 400 accounts, while 500 signed-in
// employees behind one address use the API, and eight of them log in.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/engine/engine_fixture.h"

namespace weir::engine {
namespace {

constexpr auto office = "198.51.100.1";
constexpr auto gateway = "10.0.0.1";  // the trusted proxy that all requests come through

struct Sent {
  Duration at;
  bool is_attack;
  Request request;
};

struct Passed {
  int attack = 0;
  int employees = 0;
};

class CredentialStuffing : public EngineTest {
 protected:
  static constexpr int attacks = 50'000;
  static constexpr int requests_by_employees = 500 * 10 + 8;  // in one minute

  static std::vector<Sent> traffic() {
    std::vector<Sent> events;
    for (int i = 0; i < attacks; ++i) {
      const std::string address = "203.0." + std::to_string(i % 2000 / 250) + "." + std::to_string(i % 250);
      events.push_back({60s * i / attacks, true,
                        Request::to("POST /login")
                            .from(gateway)
                            .with("X-Forwarded-For", address)
                            .with("X-Login-Name", "account" + std::to_string(i * 7 % 400))});
    }
    for (int i = 0; i < 500 * 10; ++i) {
      events.push_back({60s * i / (500 * 10) + 3ms, false,
                        Request::to(i % 4 == 0 ? "POST /api/v1/items" : "GET /api/v1/items/" + std::to_string(i))
                            .from(gateway)
                            .with("X-Forwarded-For", office)
                            .with("X-User-Id", "employee" + std::to_string(i % 500))});
    }
    for (int i = 0; i < 8; ++i) {
      events.push_back({60s * i / 8 + 1s, false,
                        Request::to("POST /login")
                            .from(gateway)
                            .with("X-Forwarded-For", office)
                            .with("X-Login-Name", "colleague" + std::to_string(i))});
    }
    std::ranges::stable_sort(events, {}, &Sent::at);
    return events;
  }

  Passed passed_under(std::string_view policy) {
    load(policy);
    Passed passed;
    const Instant start = now_;
    for (const Sent& event : traffic()) {
      now_ = start + event.at;
      if (!passes(event.request)) continue;
      ++(event.is_attack ? passed.attack : passed.employees);
    }
    return passed;
  }

  static std::string example_policy() {
    std::ifstream file(WEIR_SOURCE_DIR "/examples/policy.yaml");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
};

TEST_F(CredentialStuffing, AccountsAreProtectedAndNoEmployeeIsDenied) {
  const Passed passed = passed_under(example_policy());
  RecordProperty("attack_logins_passed", passed.attack);
  EXPECT_LE(passed.attack, 400 * 20) << "twenty an hour for each account, however many addresses";
  EXPECT_GT(passed.attack, 0);
  EXPECT_EQ(passed.employees, requests_by_employees);
}

// A plain limit per address and minute: the attack stays below it, the office does not.
TEST_F(CredentialStuffing, NaiveLimitByAddressLetsTheAttackPassAndDeniesTheOffice) {
  const Passed passed = passed_under(R"(
version: 1
identity: { trusted_proxies: [10.0.0.0/8] }
limits:
  - { name: by-address, consumer_key: ip, algorithm: fixed_window, rate: 100/min }
)");
  EXPECT_EQ(passed.attack, attacks);
  EXPECT_EQ(passed.employees, 100) << "of " << requests_by_employees;
}

// A global limit that the attack can exhaust locks everybody out: 10,000 per minute with a burst of 500, which protect
// a small backend, are exhausted while the account limits still admit attackers. So the example's global limit is above
// what its login limits admit.
TEST_F(CredentialStuffing, SharedLimitThatTheAttackFillsDeniesEmployeesToo) {
  std::string policy = example_policy();
  const std::string roomy = "rate: 60000/min\n    burst: 10000";
  const std::size_t at = policy.find(roomy);
  ASSERT_NE(at, std::string::npos);
  policy.replace(at, roomy.size(), "rate: 10000/min\n    burst: 500");
  const Passed passed = passed_under(policy);
  EXPECT_LE(passed.attack, 400 * 20);
  EXPECT_LT(passed.employees, requests_by_employees);
  RecordProperty("employees_denied", requests_by_employees - passed.employees);
}

}  // namespace
}  // namespace weir::engine
