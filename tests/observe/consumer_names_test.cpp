#include "observe/consumer_names.h"

#include <sys/stat.h>

#include <filesystem>
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
    const engine::EvaluationBatchPtr batch = evaluator_->new_batch();
    batch->add(asked.query());
    EXPECT_TRUE(batch->submit(now_));
    std::string name;
    names_.append(name, batch->matched(0).key(0));
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

TEST(HashKeyFile, IsMadeAtTheFirstStartAndReadAtTheNext) {
  const Folder folder;
  const auto made = open_hash_key(folder.file("key"));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_NE(*made, table::HashKey{});
  const auto read = open_hash_key(folder.file("key"));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, *made);
  EXPECT_EQ(folder.read("key").size(), 33U);
}

TEST(HashKeyFile, IsForItsOwnerAloneAndLeavesNothingElse) {
  const Folder folder;
  ASSERT_TRUE(open_hash_key(folder.file("key")));
  struct stat status{};
  ASSERT_EQ(stat(folder.file("key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  const auto entries = std::filesystem::directory_iterator(folder.file(""));
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST(HashKeyFile, DigitsAreReadInOrder) {
  const Folder folder;
  folder.write("key", "00112233445566778899aAbBcCdDeEfF\n");
  const auto key = open_hash_key(folder.file("key"));
  ASSERT_TRUE(key) << key.error().message();
  EXPECT_EQ(*key, (table::HashKey{0x0011'2233'4455'6677, 0x8899'aabb'ccdd'eeff}));
}

TEST(HashKeyFile, InvalidKeyIsRejectedAndNotOverwritten) {
  for (const std::string text :
       {"", "\n", "0011", "00112233445566778899aabbccddeef", "zz112233445566778899aabbccddeeff",
        "00112233445566778899aabbccddeeff0", "00112233445566778899aabbccddeeff\n\n", "-0112233445566778899aabbccddeeff",
        "0x112233445566778899aabbccddeeff"}) {
    const Folder folder;
    folder.write("key", text);
    const auto key = open_hash_key(folder.file("key"));
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().message(), folder.file("key") +
                                         ": invalid hash key: it must be 32 hexadecimal digits; "
                                         "remove the file to create a new key");
    EXPECT_EQ(folder.read("key"), text);
  }
}

TEST(HashKeyFile, MissingFolderIsAnError) {
  const Folder folder;
  const auto key = open_hash_key(folder.file("no/key"));
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().message(), folder.file("no/key") +
                                       ": cannot create the hash key: No such file or directory; "
                                       "its directory must exist and be writable");
}

}  // namespace
}  // namespace weir::observe
