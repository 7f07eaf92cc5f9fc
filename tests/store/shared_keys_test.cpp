#include "store/shared_keys.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace weir::store {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string key(const SharedKeys& keys, const StateId& id, std::string_view consumer) {
  std::string written = "what was there";
  keys.write(keys.name(id), consumer, written);
  return written;
}

// The hash tag, which determines the slot in a cluster.
std::string tag_of(const std::string& key) {
  const std::size_t begin = key.find('{');
  return key.substr(begin + 1, key.find('}', begin) - begin - 1);
}

TEST(SharedKeys, NamesTheLimitAndTheConsumer) {
  const SharedKeys keys("weir:", "");
  struct Row {
    StateId id;
    std::string_view key;
  };
  const std::vector<Row> rows{
      {{"api", Purpose::live, Algorithm::token_bucket, {}}, "weir:{api:user:5:alice}:tb"},
      {{"api", Purpose::live, Algorithm::gcra, {}}, "weir:{api:user:5:alice}:gcra"},
      {{"api", Purpose::live, Algorithm::leaky_bucket_meter, {}}, "weir:{api:user:5:alice}:lb"},
      {{"api", Purpose::live, Algorithm::leaky_bucket_queue, {}}, "weir:{api:user:5:alice}:lbq"},
      {{"api", Purpose::live, Algorithm::fixed_window, seconds(60)}, "weir:{api:user:5:alice}:fw60s"},
      {{"api", Purpose::live, Algorithm::sliding_window_log, milliseconds(1500)},
       "weir:{api:user:5:alice}:swl1500000us"},
      {{"api", Purpose::live, Algorithm::sliding_window_counter, Duration{7}}, "weir:{api:user:5:alice}:swc7us"},
      {{"api", Purpose::live, Algorithm::fixed_window, {}, core::CalendarUnit::month},
       "weir:{api:user:5:alice}:fwmonth"},
      {{"api", Purpose::live, Algorithm::concurrency, {}}, "weir:{api:user:5:alice}:cc"},
      {{"api", Purpose::candidate, Algorithm::concurrency, {}}, "weir:{api:user:5:alice}:c.cc"},
      {{"api", Purpose::candidate, Algorithm::gcra, {}}, "weir:{api:user:5:alice}:c.gcra"},
      {{"api", Purpose::warnings, Algorithm::fixed_window, seconds(3600)}, "weir:{api:user:5:alice}:w.fw3600s"},
      {{"api", Purpose::denials, Algorithm::sliding_window_log, seconds(60)}, "weir:{api:user:5:alice}:d.swl60s"},
      {{"api", Purpose::block, Algorithm::fixed_window, seconds(1)}, "weir:{api:user:5:alice}:b.fw1s"},
      {{"POST /a b", Purpose::live, Algorithm::gcra, {}}, "weir:{POST /a b:user:5:alice}:gcra"},
  };
  for (const Row& row : rows) EXPECT_EQ(key(keys, row.id, "user:5:alice"), row.key);
}

TEST(SharedKeys, DifferentStatesHaveDifferentKeysWhateverTheBytes) {
  const SharedKeys keys("weir:", "");
  const std::vector<std::string> names{"",   "a", "A",  "a:b", "a}:gcra", "a%3ab", std::string("a\0", 2),
                                       "a{", "#", "c.a"};
  const std::vector<std::string> consumers{"",
                                           "b",
                                           "b:b",
                                           "b}:gcra",
                                           "}:c.gcra",
                                           "{",
                                           "#",
                                           "#00",
                                           "\xff",
                                           std::string(64, 'x'),
                                           std::string(65, 'x'),
                                           std::string(66, 'x')};
  std::set<std::string> seen;
  std::size_t states = 0;
  for (const std::string& name : names) {
    for (int purpose = 0; purpose <= static_cast<int>(Purpose::overrides); ++purpose) {
      for (const std::string& consumer : consumers) {
        for (const Duration window : {Duration{0}, Duration{60}, Duration{60'000}, Duration{60'000'000}}) {
          const Algorithm algorithm = window == Duration{0} ? Algorithm::gcra : Algorithm::fixed_window;
          seen.insert(key(keys, {name, static_cast<Purpose>(purpose), algorithm, window}, consumer));
          ++states;
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), states);
}

TEST(SharedKeys, AllStatesOfALimitAndAConsumerHaveOneTag) {
  const SharedKeys keys("weir:", "");
  for (const std::string consumer : {"user:5:alice", "a}b{c", "", "}"}) {
    const std::string tag = tag_of(key(keys, {"api", Purpose::live, Algorithm::gcra, {}}, consumer));
    EXPECT_FALSE(tag.empty());
    EXPECT_EQ(tag_of(key(keys, {"api", Purpose::candidate, Algorithm::fixed_window, seconds(60)}, consumer)), tag);
    EXPECT_EQ(tag_of(key(keys, {"api", Purpose::block, Algorithm::fixed_window, seconds(9)}, consumer)), tag);
  }
}

TEST(SharedKeys, LongConsumersAreHashed) {
  const SharedKeys keys("weir:", "");
  const StateId id{"api", Purpose::live, Algorithm::gcra, {}};
  EXPECT_EQ(key(keys, id, std::string(64, 'x')), "weir:{api:" + std::string(64, 'x') + "}:gcra");
  // HMAC-SHA-256 without a secret, its first half, in base64.
  EXPECT_EQ(key(keys, id, std::string(65, 'x')), "weir:{api:#YI1wTHt7Il42lCblA_3szg}:gcra");
}

TEST(SharedKeys, NoConsumerPassesForAHash) {
  const SharedKeys keys("", "");
  const StateId id{"api", Purpose::live, Algorithm::gcra, {}};
  const std::string hashed = key(keys, id, std::string(65, 'x'));
  const std::string hash = tag_of(hashed).substr(4);
  EXPECT_NE(key(keys, id, hash), hashed);
}

TEST(SharedKeys, WithASecretNoConsumerIsReadable) {
  const SharedKeys keys("weir:", "a secret");
  const SharedKeys others("weir:", "another");
  const StateId id{"api", Purpose::live, Algorithm::gcra, {}};
  const std::string alice = key(keys, id, "alice");
  // HMAC-SHA-256, its first half, in base64.
  EXPECT_EQ(alice, "weir:{api:#y_1F7rDh3rCEOA3Vu88eSA}:gcra");
  EXPECT_EQ(key(keys, id, "alice"), alice);
  EXPECT_NE(key(keys, id, "bob"), alice);
  EXPECT_NE(key(others, id, "alice"), alice);
}

}  // namespace
}  // namespace weir::store
