#include "server/config_values.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace weir::server {
namespace {

using namespace std::chrono_literals;

template <class T>
std::string what_of(const Result<T>& result) {
  return result ? "" : result.error().message();
}

TEST(Size, IsACountOfBinaryUnits) {
  struct Row {
    std::string_view text;
    std::size_t bytes;
  };
  for (const Row& row : std::vector<Row>{{"1KiB", 1024},
                                         {"1023KiB", 1023 * 1024},
                                         {"256MiB", std::size_t{256} << 20},
                                         {"3GiB", std::size_t{3} << 30},
                                         {"1024GiB", std::size_t{1} << 40}}) {
    EXPECT_EQ(parse_size(row.text, {}).value(), row.bytes) << row.text;
    EXPECT_EQ(parse_size(size_text(row.bytes), {}).value(), row.bytes) << row.text;
  }
}

TEST(Size, IsWrittenInTheLargestUnitThatIsExact) {
  EXPECT_EQ(size_text(std::size_t{1} << 40), "1024GiB");
  EXPECT_EQ(size_text((std::size_t{1} << 20) + 1024), "1025KiB");
  EXPECT_EQ(size_text(1000), "1000 bytes");
  EXPECT_EQ(size_text(0), "0 bytes");
}

TEST(Size, InAnotherSpellingIsRefused) {
  for (const std::string text : {"", "1", "KiB", "1kib", "1KB", "1 KiB", "-1KiB", "+1KiB", "1.5MiB", "01KiB", "00KiB",
                                 "1KiBMiB", "0x1KiB", "1e3KiB"}) {
    EXPECT_EQ(what_of(parse_size(text, {})), "'" + text + "': invalid size; write it like 64KiB, 256MiB or 2GiB");
  }
}

TEST(Size, KeepsItsBounds) {
  const SizeBounds bounds{.min = 2048, .max = 8192};
  EXPECT_EQ(what_of(parse_size("1KiB", bounds)), "'1KiB': too small: at least 2KiB");
  EXPECT_EQ(parse_size("2KiB", bounds).value(), 2048U);
  EXPECT_EQ(parse_size("8KiB", bounds).value(), 8192U);
  EXPECT_EQ(what_of(parse_size("9KiB", bounds)), "'9KiB': too large: at most 8KiB");
  EXPECT_EQ(what_of(parse_size("18014398509481984KiB", bounds)), "'18014398509481984KiB': too large: at most 8KiB");
}

TEST(Time, MayBeNothingOnlyWhereThatMeansSomething) {
  EXPECT_EQ(parse_time("0s", {.min = 0s, .max = 1min}).value(), 0s);
  EXPECT_EQ(what_of(parse_time("0s", {.min = 1s, .max = 1min})), "'0s': too short: at least 1 s");
  EXPECT_EQ(what_of(parse_time("61s", {.min = 1s, .max = 1min})), "'61s': too long: at most 1 min");
  EXPECT_EQ(parse_time("60s", {.min = 1s, .max = 1min}).value(), 1min);
}

TEST(Sample, IsAFractionOrADecimalInLowestTerms) {
  struct Row {
    std::string_view text;
    Share share;
  };
  for (const Row& row : std::vector<Row>{{"1", {1, 1}},
                                         {"1.0", {1, 1}},
                                         {"0.1", {1, 10}},
                                         {"0.000001", {1, 1'000'000}},
                                         {"0.75", {3, 4}},
                                         {"1/3", {1, 3}},
                                         {"2/6", {1, 3}},
                                         {"7/7", {1, 1}},
                                         {"1/1000000", {1, 1'000'000}}}) {
    EXPECT_EQ(parse_sample(row.text).value(), row.share) << row.text;
  }
}

TEST(Sample, InAnotherSpellingIsRefused) {
  for (const std::string_view text : {"", "/", "1/", "/2", "1/2/3", "-1/2", "1/-2", "1 / 2", "01/2", "1/1000001", "2/1",
                                      "0/1", "1/0", "0", "1.1", "1e-1", ".5", "99999999999/99999999999"}) {
    EXPECT_NE(what_of(parse_sample(text)), "") << text;
  }
}

TEST(Mode, IsOctal) {
  EXPECT_EQ(parse_mode("0660").value(), mode_t{0660});
  EXPECT_EQ(parse_mode("600").value(), mode_t{0600});
  for (const std::string_view text : {"", "0", "60", "00660", "1660", "0680", "-660", "0o660", "rw-"}) {
    EXPECT_NE(what_of(parse_mode(text)), "") << text;
  }
}

TEST(Host, IsANameWithoutAPort) {
  for (const std::string_view text : {"limits", "limits.example.com", "a_b-c", "*"}) {
    EXPECT_EQ(parse_host(text).value(), text);
  }
  for (const std::string& text :
       {std::string{}, std::string{"a:80"}, std::string{"a b"}, std::string{"*.a"}, std::string(254, 'a')}) {
    EXPECT_NE(what_of(parse_host(text)), "") << text;
  }
}

TEST(Path, IsRelativeToTheFolderOfTheFile) {
  EXPECT_EQ(parse_path("a.yaml", "/etc/weir").value(), "/etc/weir/a.yaml");
  EXPECT_EQ(parse_path("../a.yaml", "/etc/weir").value(), "/etc/a.yaml");
  EXPECT_EQ(parse_path("/a.yaml", "/etc/weir").value(), "/a.yaml");
  EXPECT_EQ(parse_path("a.yaml", "").value(), "a.yaml");
  EXPECT_NE(what_of(parse_path(std::string(4096, 'a'), "/")), "");
}

}  // namespace
}  // namespace weir::server
