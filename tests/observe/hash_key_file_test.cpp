#include "observe/hash_key_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/observe/folder.h"

namespace weir::observe {
namespace {

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
  struct stat status {};
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

TEST(HashKeyFile, WhatIsNoKeyIsRefusedAndKept) {
  for (const std::string text :
       {"", "\n", "0011", "00112233445566778899aabbccddeef", "zz112233445566778899aabbccddeeff",
        "00112233445566778899aabbccddeeff0", "00112233445566778899aabbccddeeff\n\n", "-0112233445566778899aabbccddeeff",
        "0x112233445566778899aabbccddeeff"}) {
    const Folder folder;
    folder.write("key", text);
    const auto key = open_hash_key(folder.file("key"));
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().message(), folder.file("key") +
                                         ": is not a hash key: it has to be 32 hexadecimal digits; "
                                         "remove the file to have one made");
    EXPECT_EQ(folder.read("key"), text);
  }
}

TEST(HashKeyFile, FolderThatIsNotThereIsAnError) {
  const Folder folder;
  const auto key = open_hash_key(folder.file("no/key"));
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().message(), folder.file("no/key") +
                                       ": the hash key cannot be made: No such file or directory; "
                                       "its folder has to be there, and writable");
}

}  // namespace
}  // namespace weir::observe
