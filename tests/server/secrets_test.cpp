#include "server/secrets.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace weir::server {
namespace {

constexpr std::string_view token = "0123456789abcdef";

class TokenFile : public testing::Test {
 protected:
  TokenFile() {
    std::string name = (std::filesystem::temp_directory_path() / "weir-token-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~TokenFile() override { std::filesystem::remove_all(folder_); }
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;

  std::filesystem::path write(std::string_view text, mode_t mode = 0600) {
    const std::filesystem::path path = folder_ / "http.token";
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(TokenFile, IsOneLine) {
  for (const std::string_view end : {"", "\n", "\r\n"}) {
    EXPECT_EQ(read_token(write(std::string(token).append(end))).value(), token);
  }
  EXPECT_EQ(read_token(write(std::string(1024, 'a') + "\r\n")).value(), std::string(1024, 'a'));
}

TEST_F(TokenFile, OfAdministratorsHasOneTokenOrSeveralWithNamesAndRoles) {
  using Role = frontend::NamedToken::Role;
  const auto alone = read_admin_tokens(write(std::string(token) + "\n"));
  ASSERT_TRUE(alone) << alone.error().message();
  ASSERT_EQ(alone->size(), 1U);
  EXPECT_EQ((*alone)[0].name, "admin");
  EXPECT_EQ((*alone)[0].secret, token);
  EXPECT_EQ((*alone)[0].role, Role::write);
  const auto path =
      write("# operators\nbob  bobs-token-of-16-or-more\tread\n\nalice alices-token-of-16-or-more write # on call\n");
  const auto several = read_admin_tokens(path);
  ASSERT_TRUE(several) << several.error().message();
  ASSERT_EQ(several->size(), 2U);
  EXPECT_EQ((*several)[0].name, "bob");
  EXPECT_EQ((*several)[0].role, Role::read);
  EXPECT_EQ((*several)[1].secret, "alices-token-of-16-or-more");
  EXPECT_EQ(read_writing_token(path).value(), "alices-token-of-16-or-more");
}

TEST_F(TokenFile, OfAdministratorsIsRefusedWithTheLineOfTheMistake) {
  const auto rejected = [&](std::string_view text) {
    const std::filesystem::path path = write(text);
    const auto read = read_admin_tokens(path);
    return read ? "accepted" : read.error().message().substr(path.string().size());
  };
  constexpr std::string_view good = "alice alices-token-of-16-or-more write\n";
  EXPECT_EQ(rejected(std::string(good) + "bob bobs-token-of-16-or-more\n"),
            ":2: invalid line: expected NAME TOKEN ROLE, where ROLE is read or write");
  EXPECT_EQ(rejected(std::string(good) + "bob bobs-token-of-16-or-more admin\n"),
            ":2: invalid role: expected NAME TOKEN ROLE, where ROLE is read or write");
  EXPECT_EQ(rejected(std::string(good) + "bob short write\n"),
            ":2: invalid token: expected 16 to 1024 printable characters; create one with openssl rand -hex 32");
  EXPECT_EQ(rejected(std::string(good) + std::string(good)), ":2: duplicate name or token");
  EXPECT_EQ(rejected("bob bobs-token-of-16-or-more read\n"),
            ": contains no token with the role write; add one, or remove the file and restart");
}

TEST_F(TokenFile, ThatOthersCanReadOrChangeIsRefused) {
  for (const mode_t mode : {0604U, 0644U, 0602U, 0620U, 0601U, 0777U}) {
    const std::filesystem::path path = write(token, mode);
    const auto read = read_token(path);
    ASSERT_FALSE(read.has_value()) << mode;
    EXPECT_TRUE(read.error().what.ends_with("); run chmod 600 " + path.string())) << read.error().what;
    EXPECT_EQ(read.error().where, path.string());
  }
  for (const mode_t mode : {0400U, 0600U, 0440U, 0640U})
    EXPECT_TRUE(read_token(write(token, mode)).has_value()) << mode;
}

TEST_F(TokenFile, WithSomethingElseInItIsRefused) {
  const std::vector<std::string> texts{
      "",
      "\n",
      "short",
      std::string(15, 'a'),
      std::string(1025, 'a'),
      std::string(4096, 'a'),
      "0123456789abcdef\n\n",
      "0123456789 abcdef",
      "0123456789abcdef\n0123456789abcdef",
      "0123456789abcdef\xc3\xa9",
      std::string("0123456789abcdef\0", 17),
  };
  for (const std::string& text : texts) {
    const auto read = read_token(write(text));
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_TRUE(read.error().what.starts_with("invalid token: expected one line of 16 to 1024 printable characters"))
        << text;
  }
}

TEST_F(TokenFile, OfAPasswordIsOneLineOfAnything) {
  for (const std::string_view password : {"x", "with spaces in it", "\xc3\xa9", " "}) {
    for (const std::string_view end : {"", "\n", "\r\n"}) {
      EXPECT_EQ(read_password(write(std::string(password).append(end))).value(), password);
    }
  }
  for (const std::string& text : {std::string(), std::string("\n"), std::string("a\nb"), std::string("a\n\n"),
                                  std::string("a\0b", 3), std::string(1025, 'a')}) {
    const auto read = read_password(write(text));
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().what, "invalid password: expected one line of 1 to 1024 bytes");
  }
  EXPECT_FALSE(read_password(write("secret", 0644)).has_value());
}

TEST_F(TokenFile, ThatIsNotThereIsSaid) {
  const auto read = read_token("/nowhere/http.token");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().message(), "/nowhere/http.token: cannot be read: No such file or directory");
}

TEST_F(TokenFile, OfReceiptKeysHasOneALine) {
  const std::string first(64, '1');
  const std::string second = "00FFff" + std::string(58, '2');
  for (const std::string& text : {first + "\n" + second + "\n", "# keys\n\n " + first + " # old\r\n" + second}) {
    const auto keys = read_receipt_keys(write(text));
    ASSERT_TRUE(keys.has_value()) << keys.error().message();
    ASSERT_EQ(keys->size(), 2U);
    EXPECT_EQ((*keys)[0][0], 0x11);
    EXPECT_EQ((*keys)[1][2], 0xff);
  }
}

TEST_F(TokenFile, OfReceiptKeysWithAMistakeIsRefused) {
  struct Row {
    std::string text;
    std::string_view said;
  };
  const std::string key(64, '1');
  std::string many;
  for (char digit = 'a'; digit <= 'f'; ++digit) {
    for (char other = 'a'; other <= 'c'; ++other) many += std::string(32, digit) + std::string(32, other) + "\n";
  }
  const std::vector<Row> rows{
      {"", "contains no key"},
      {"# none\n", "contains no key"},
      {key + "1", "http.token:1: invalid key: expected 64 hexadecimal digits"},
      {key + "\n" + std::string(63, '1') + "g", "http.token:2: invalid key"},
      {key + " " + key, "http.token:1: invalid key"},
      {key + "\n" + key, "http.token:2: duplicate key"},
      {many, "contains more than 16 keys"},
      {std::string(70'000, '#'), "too long"},
  };
  for (const Row& row : rows) {
    const auto keys = read_receipt_keys(write(row.text));
    ASSERT_FALSE(keys.has_value());
    EXPECT_NE(keys.error().message().find(row.said), std::string::npos) << keys.error().message();
  }
  EXPECT_FALSE(read_receipt_keys(write(key, 0604)).has_value());
}

TEST_F(TokenFile, OfTheOwnReceiptKeyIsMadeOnceAndKept) {
  const std::filesystem::path folder = write("").parent_path();
  const auto first = open_receipt_key(folder);
  ASSERT_TRUE(first.has_value()) << first.error().message();
  EXPECT_EQ(first->size(), 1U);
  EXPECT_EQ(open_receipt_key(folder).value(), *first);
  struct stat status{};
  ASSERT_EQ(stat((folder / receipt_key_file).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_NE(new_receipt_key().value(), first->front());
}

}  // namespace
}  // namespace weir::server
