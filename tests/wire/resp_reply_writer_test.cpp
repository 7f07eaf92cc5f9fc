// Every type of reply, in both versions of the protocol.
#include "wire/resp/writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace weir::wire::resp {
namespace {

using namespace std::string_literals;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(RespReplyWriter, WritesEachValueAsItsProtocolDoes) {
  struct Row {
    void (*write)(ReplyWriter&);
    std::string resp2;
    std::string resp3;
  };
  for (const Row& row : {
           Row{[](auto& w) { w.simple_string("OK"); }, "+OK\r\n", "+OK\r\n"},
           Row{[](auto& w) { w.error("ERR no"); }, "-ERR no\r\n", "-ERR no\r\n"},
           Row{[](auto& w) { w.integer(0); }, ":0\r\n", ":0\r\n"},
           Row{[](auto& w) { w.integer(-1); }, ":-1\r\n", ":-1\r\n"},
           Row{[](auto& w) { w.integer(std::numeric_limits<std::int64_t>::min()); }, ":-9223372036854775808\r\n",
               ":-9223372036854775808\r\n"},
           Row{[](auto& w) { w.bulk(""); }, "$0\r\n\r\n", "$0\r\n\r\n"},
           Row{[](auto& w) { w.bulk("a\r\nb"); }, "$4\r\na\r\nb\r\n", "$4\r\na\r\nb\r\n"},
           Row{[](auto& w) { w.null(); }, "$-1\r\n", "_\r\n"},
           Row{[](auto& w) { w.null_array(); }, "*-1\r\n", "_\r\n"},
           Row{[](auto& w) { w.array(2); }, "*2\r\n", "*2\r\n"},
           Row{[](auto& w) { w.map(2); }, "*4\r\n", "%2\r\n"},
           Row{[](auto& w) { w.set(2); }, "*2\r\n", "~2\r\n"},
           Row{[](auto& w) { w.real(0.1); }, "$3\r\n0.1\r\n", ",0.1\r\n"},
           Row{[](auto& w) { w.real(-infinity); }, "$4\r\n-inf\r\n", ",-inf\r\n"},
           Row{[](auto& w) { w.real(infinity); }, "$3\r\ninf\r\n", ",inf\r\n"},
           Row{[](auto& w) { w.real(-std::numeric_limits<double>::quiet_NaN()); }, "$3\r\nnan\r\n", ",nan\r\n"},
           Row{[](auto& w) { w.boolean(true); }, ":1\r\n", "#t\r\n"},
           Row{[](auto& w) { w.boolean(false); }, ":0\r\n", "#f\r\n"},
           Row{[](auto& w) { w.verbatim("a\n"); }, "$2\r\na\n\r\n", "=6\r\ntxt:a\n\r\n"},
       }) {
    std::string resp2 = "before";
    ReplyWriter writer2(resp2, Protocol::resp2);
    row.write(writer2);
    EXPECT_EQ(resp2, "before" + row.resp2);
    std::string resp3 = "before";
    ReplyWriter writer3(resp3, Protocol::resp3);
    row.write(writer3);
    EXPECT_EQ(resp3, "before" + row.resp3);
  }
}

TEST(RespReplyWriter, LineCannotBeEndedByItsText) {
  std::string out;
  ReplyWriter writer(out);
  writer.error("ERR unknown 'a\r\n+OK\r\n'");
  writer.simple_string("a\nb\0c\r"s);
  EXPECT_EQ(out, "-ERR unknown 'a  +OK  '\r\n+a b\0c \r\n"s);
}

TEST(RespReplyWriter, BulkStringsOfEveryLengthAreComplete) {
  for (std::size_t length = 0; length < 300; ++length) {
    std::string out;
    ReplyWriter(out).bulk(std::string(length, 'x'));
    EXPECT_EQ(out, "$" + std::to_string(length) + "\r\n" + std::string(length, 'x') + "\r\n");
  }
}

TEST(RespCommandWriter, WritesCommandsAsArraysOfBulkStrings) {
  std::string out;
  append_command(out, {"AUTH", "", "a\r\nb"});
  EXPECT_EQ(out, "*3\r\n$4\r\nAUTH\r\n$0\r\n\r\n$4\r\na\r\nb\r\n");
  out.clear();
  CommandWriter command(out, 3);
  command.argument("SELECT");
  command.argument(std::int64_t{12});
  command.argument(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(out, "*3\r\n$6\r\nSELECT\r\n$2\r\n12\r\n$20\r\n-9223372036854775808\r\n");
}

}  // namespace
}  // namespace weir::wire::resp
