// Every field of a check with unusual values, under a limit of each consumer_key. No value silently exempts a request
// from its limits: the request is decided, the value is missing as documented, or the response is a 400 that names the
// field. docs/protocols.md has the same as a table.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/frontend_http/http_fixture.h"

namespace weir::frontend {
namespace {

// The README's policy with another key.
std::string policy_by(std::string_view consumer_key) {
  return R"(
version: 1
tiers: { from: { header: X-Plan }, default: free, names: [free, pro] }
limits:
  - name: login
    routes: [POST /login]
    algorithm: sliding_window_log
    rate: 3/min
    consumer_key: )" +
         std::string(consumer_key) + "\n";
}

const std::vector<std::string> consumer_keys{"ip",     "user",     "api_key", "header:X-Tenant", "route",
                                             "global", "ip+route", "user+ip", "[user, ip]"};

enum class Outcome {
  limited,   // the fourth request is denied
  rejected,  // 400
  missing,   // like an absent field: limits that need it do not cover the request
  free,      // charges nothing
};

struct FieldRow {
  std::string_view field;
  std::string value;  // JSON
  Outcome outcome;
};

const std::vector<FieldRow> rows{
    {"method", R"("post")", Outcome::limited},
    {"method", R"("Post")", Outcome::limited},
    {"method", R"("")", Outcome::limited},  // any method, like invalid tokens
    {"method", R"("POST ")", Outcome::limited},
    {"method", R"(" POST")", Outcome::limited},
    {"method", R"("POST\r\n")", Outcome::limited},
    {"method", R"("POST /login")", Outcome::limited},
    {"method", R"("P\u00d6ST")", Outcome::limited},
    {"method", R"("POST\u0000")", Outcome::limited},
    {"method", "null", Outcome::rejected},
    {"method", "7", Outcome::rejected},

    {"path", R"("/login?next=/")", Outcome::limited},
    {"path", R"("/login#top")", Outcome::limited},
    {"path", R"("login")", Outcome::limited},
    {"path", R"("login?x")", Outcome::limited},
    {"path", R"(" /login")", Outcome::limited},
    {"path", R"("/login/")", Outcome::limited},
    {"path", R"("//login")", Outcome::limited},
    {"path", R"("/LOGIN")", Outcome::limited},
    {"path", R"("/%6cogin")", Outcome::limited},
    {"path", R"("/a/../login")", Outcome::limited},
    {"path", R"("https://example.com/login")", Outcome::limited},
    {"path", R"("HTTPS://example.com:8443/login?x=1")", Outcome::limited},
    {"path", R"("example.com:443")", Outcome::limited},  // unreadable: any route
    {"path", R"("/login\u0000")", Outcome::limited},
    {"path", '"' + std::string(9'000, '/') + '"', Outcome::limited},
    {"path", R"("")", Outcome::rejected},
    {"path", R"("?next=/login")", Outcome::rejected},
    {"path", R"("#/login")", Outcome::rejected},
    {"path", "null", Outcome::rejected},

    {"ip", R"("192.0.2.7:51234")", Outcome::limited},
    {"ip", R"("[192.0.2.7]")", Outcome::limited},
    {"ip", R"("2001:db8::1")", Outcome::limited},
    {"ip", R"("[2001:db8::1]")", Outcome::limited},
    {"ip", R"("[2001:db8::1]:443")", Outcome::limited},
    {"ip", R"("::ffff:192.0.2.7")", Outcome::limited},
    {"ip", R"("fe80::1%eth0")", Outcome::limited},
    {"ip", R"("[fe80::1%eth0]:51234")", Outcome::limited},
    {"ip", R"("")", Outcome::missing},
    {"ip", R"("foo")", Outcome::rejected},
    {"ip", R"("unknown")", Outcome::rejected},
    {"ip", R"("@")", Outcome::rejected},
    {"ip", R"("unix:")", Outcome::rejected},
    {"ip", R"("localhost:80")", Outcome::rejected},
    {"ip", R"(" 192.0.2.7")", Outcome::rejected},
    {"ip", R"("192.0.2.7 ")", Outcome::rejected},
    {"ip", R"("192.0.2.7\u0000")", Outcome::rejected},
    {"ip", R"("192.0.2.7:")", Outcome::rejected},
    {"ip", R"("192.0.2.7:65536")", Outcome::rejected},
    {"ip", R"("192.0.2.007")", Outcome::rejected},
    {"ip", R"("192.0.2")", Outcome::rejected},
    {"ip", R"("0xc0.0.2.7")", Outcome::rejected},
    {"ip", R"("3221225991")", Outcome::rejected},
    {"ip", R"("192.0.2.0/24")", Outcome::rejected},
    {"ip", R"("192.0.2.7, 192.0.2.8")", Outcome::rejected},
    {"ip", R"("[2001:db8::1")", Outcome::rejected},
    {"ip", R"("::ffff:192.0.2.7:80")", Outcome::rejected},
    {"ip", "null", Outcome::rejected},
    {"ip", "3221225991", Outcome::rejected},

    {"user", R"("")", Outcome::missing},
    {"user", R"(" ")", Outcome::limited},
    {"user", R"("a\u0000b")", Outcome::limited},
    {"user", R"("\u202ealice")", Outcome::limited},
    {"user", '"' + std::string(20'000, 'x') + '"', Outcome::limited},
    {"user", "null", Outcome::rejected},
    {"user", "42", Outcome::rejected},

    {"api_key", R"("")", Outcome::missing},
    {"api_key", R"(" ")", Outcome::limited},
    {"api_key", "null", Outcome::rejected},

    {"tier", R"("")", Outcome::limited},
    {"tier", R"("FREE")", Outcome::limited},  // unknown: the default
    {"tier", R"("no-such-tier")", Outcome::limited},
    {"tier", "null", Outcome::rejected},

    {"headers", R"({"x-tenant": "t1"})", Outcome::limited},
    {"headers", R"({"X-TENANT": " t1 "})", Outcome::limited},
    {"headers", R"({"X-Tenant": "t1", "X-Forwarded-For": "foo"})", Outcome::limited},
    {"headers", R"({"X-Tenant": "t1", "Forwarded": "for=198.51.100.1"})", Outcome::limited},
    // Without the header, a limit keyed by it has one counter for all of these, unless the policy says otherwise.
    {"headers", R"({"X-Tenant": ""})", Outcome::limited},
    {"headers", R"({"X-Tenant": "t1", "x-tenant": "t2"})", Outcome::limited},
    {"headers", R"({"X-Tenent": "t1"})", Outcome::limited},
    {"headers", R"({})", Outcome::limited},
    {"headers", R"({"X-Tenant ": "t1"})", Outcome::limited},
    {"headers", R"({"X-Tenant:": "t1"})", Outcome::limited},
    {"headers", R"({"X Tenant": "t1"})", Outcome::limited},
    {"headers", R"({"": "t1"})", Outcome::limited},
    {"headers", R"({"X-Tenant": 7})", Outcome::rejected},
    {"headers", R"({"X-Tenant": ["t1"]})", Outcome::rejected},
    {"headers", R"({"X-Tenant": null})", Outcome::rejected},
    {"headers", R"([["X-Tenant", "t1"]])", Outcome::rejected},
    {"headers", "null", Outcome::rejected},

    {"cost", "0", Outcome::free},
    {"cost", "3", Outcome::limited},
    {"cost", "4294967296", Outcome::limited},
    {"cost", "18446744073709551615", Outcome::limited},
    {"cost", "18446744073709551616", Outcome::rejected},
    {"cost", "-1", Outcome::rejected},
    {"cost", "0.5", Outcome::rejected},
    {"cost", "1.0", Outcome::rejected},
    {"cost", "1e0", Outcome::rejected},
    {"cost", R"("1")", Outcome::rejected},
    {"cost", "true", Outcome::rejected},
    {"cost", "null", Outcome::rejected},

    {"Ip", R"("192.0.2.7")", Outcome::rejected},
    {"usr", R"("alice")", Outcome::rejected},
    {"host", R"("example.com")", Outcome::rejected},
    {"domain", R"("weir")", Outcome::rejected},
    {"path ", R"("/login")", Outcome::rejected},
};

// A request that each of the limits covers, with one field replaced or added.
std::string body_with(const FieldRow& row) {
  std::vector<std::pair<std::string_view, std::string_view>> fields{
      {"method", R"("POST")"}, {"path", R"("/login")"}, {"ip", R"("192.0.2.7")"},
      {"user", R"("alice")"},  {"api_key", R"("k1")"},  {"headers", R"({"X-Tenant": "t1"})"}};
  bool is_there = false;
  std::string body = "{";
  for (const auto& [name, value] : fields) {
    is_there = is_there || name == row.field;
    body += (body.size() > 1 ? ", \"" : "\"") + std::string(name) + "\": ";
    body += name == row.field ? std::string_view(row.value) : value;
  }
  if (!is_there) body += ", \"" + std::string(row.field) + "\": " + row.value;
  return body + "}";
}

bool needs(std::string_view consumer_key, std::string_view field) {
  const bool is_alternative = consumer_key.find('[') != std::string_view::npos;
  return !is_alternative && consumer_key.find(field) != std::string_view::npos;
}

TEST(CheckFields, NoOddValueTakesARequestOutOfItsLimits) {
  for (const std::string& consumer_key : consumer_keys) {
    for (const FieldRow& row : rows) {
      HttpFixture http(policy_by(consumer_key));
      const std::string body = body_with(row);
      const std::string what = consumer_key + ", " + body.substr(0, 200);
      std::vector<int> statuses;
      std::string last;
      for (int i = 0; i < 4; ++i) {
        const Answer answer = http.check(body);
        statuses.push_back(answer.status);
        last = answer.body;
      }
      const bool is_missing = row.outcome == Outcome::missing && needs(consumer_key, row.field);
      if (row.outcome == Outcome::rejected) {
        EXPECT_EQ(statuses, std::vector<int>(4, 400)) << what;
        EXPECT_NE(last.find(std::string(row.field)), std::string::npos) << what << ": " << last;
      } else if (is_missing) {
        EXPECT_NE(last.find(R"("reason":"uncovered")"), std::string::npos) << what << ": " << last;
      } else if (row.outcome == Outcome::free) {
        EXPECT_NE(last.find(R"("reason":"within","limit":"login","quota":3,"remaining":3)"), std::string::npos) << what;
      } else {
        EXPECT_EQ(statuses.back(), 429) << what << ": " << last;
      }
    }
  }
}

TEST(CheckFields, ANewPortIsNotANewCaller) {
  HttpFixture http(policy_by("ip"));
  std::vector<int> statuses;
  for (const std::string_view ip : {"192.0.2.7", "192.0.2.7:51234", "[192.0.2.7]:51235", "::ffff:192.0.2.7"}) {
    const FieldRow row{"ip", '"' + std::string(ip) + '"', Outcome::limited};
    statuses.push_back(http.check(body_with(row)).status);
  }
  EXPECT_EQ(statuses, (std::vector<int>{200, 200, 200, 429}));
}

TEST(CheckFields, AReportAndAReserveRejectTheSameAddresses) {
  HttpFixture http(policy_by("ip"));
  for (const std::string_view target : {"/v1/check", "/v1/report"}) {
    const Answer answer = http.check(R"({"ip": "foo", "cost": 1})", target);
    EXPECT_EQ(answer.status, 400) << target;
    EXPECT_NE(answer.body.find("ip: not an IP address: send one such as 192.0.2.7"), std::string::npos);
  }
  EXPECT_EQ(http.check(R"({"ip": "foo", "reserve": true})").status, 400);
  const Answer many = http.check(R"([{"ip": "192.0.2.7"}, {"ip": "foo"}])");
  EXPECT_EQ(many.status, 400);
  EXPECT_NE(many.body.find("query 2, ip"), std::string::npos) << many.body;
}

TEST(CheckFields, AFieldThatIsThereTwiceIsRejected) {
  HttpFixture http(policy_by("ip"));
  EXPECT_EQ(http.check(R"({"ip": "192.0.2.7", "ip": "192.0.2.8"})").status, 400);
}

}  // namespace
}  // namespace weir::frontend
