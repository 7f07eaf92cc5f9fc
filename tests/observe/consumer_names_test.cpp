#include "observe/consumer_names.h"

#include <regex>

#include "tests/observe/recorder_fixture.h"

namespace weir::observe {
namespace {

class ConsumerNamesTest : public RecorderTest {
 protected:
  // The name of the consumer that a limit with this key counts for.
  std::string name_of(const std::string& consumer_key, const Request& request) {
    load(
        "{version: 1, identity: {trusted_proxies: [10.0.0.0/8]}, limits: [{name: a, routes: [\"POST /login\"], "
        "consumer_key: " +
        consumer_key + ", missing: share, algorithm: gcra, rate: 1/s}]}");
    const Asked asked(request);
    const Verdict verdict = judge_->judge(asked.query(), now_);
    std::string name;
    names_.append(name, judge_->consumer_of(asked.query(), verdict.outcomes[0]));
    return name;
  }
  std::string hash(std::string_view value) const { return names_.hash_of(value); }
};

TEST_F(ConsumerNamesTest, EachValueIsHashedAndWhatIsOfThePolicyStays) {
  const Request request = Request::to("POST /login").by("alice").with("X-Tenant", "acme");
  struct Row {
    std::string consumer_key;
    std::string name;
  };
  for (const Row& row : {Row{"user", "user:" + hash("alice")}, Row{"ip", "ip:" + hash("203.0.113.1")},
                         Row{"user+route", "user:" + hash("alice") + "+route:POST /login"}, Row{"global", "global"},
                         Row{"\"header:X-Tenant\"", "header:x-tenant:" + hash("acme")}, Row{"api_key", "shared"}}) {
    EXPECT_EQ(name_of(row.consumer_key, request), row.name);
  }
}

TEST_F(ConsumerNamesTest, AddressIsHashedAsItIsCounted) {
  EXPECT_EQ(name_of("ip", Request::to("POST /login").from("2001:db8:1:2:3::4")), "ip:" + hash("2001:db8:1:2::/64"));
}

TEST_F(ConsumerNamesTest, HashDependsOnTheKeyAndIsSixteenDigits) {
  EXPECT_TRUE(std::regex_match(hash("alice"), std::regex("[0-9a-f]{16}")));
  EXPECT_EQ(hash("alice"), ConsumerNames({3, 4}).hash_of("alice"));
  EXPECT_NE(hash("alice"), ConsumerNames({3, 5}).hash_of("alice"));
  EXPECT_NE(hash("alice"), hash("alicf"));
}

TEST_F(ConsumerNamesTest, DescriptorsAreHashedValueByValue) {
  const std::array<engine::DescriptorEntry, 2> entries{{{"generic_key", ""}, {"remote_address", "203.0.113.1"}}};
  std::string name;
  names_.append(name, entries);
  EXPECT_EQ(name, "generic_key+remote_address:" + hash("203.0.113.1"));
}

}  // namespace
}  // namespace weir::observe
