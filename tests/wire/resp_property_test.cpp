// Written commands and replies parse to the original values, however the bytes are split.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "tests/wire/resp_stream.h"
#include "wire/resp/throttle.h"
#include "wire/resp/writer.h"

namespace weir::wire::resp {
namespace {

using Command = std::vector<std::string>;

// Piece sizes of one to seven bytes, drawn once and repeated.
auto any_pieces() {
  auto lengths = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 8)));
  return [lengths = std::move(lengths)](std::size_t i) { return lengths[i % lengths.size()]; };
}

// Bytes that resemble the protocol often enough to reach all code.
std::string any_protocol_bytes() {
  const auto piece = rc::gen::weightedOneOf<std::string>(
      {{6, rc::gen::elementOf(std::vector<std::string>{
               "\r\n",   "*1\r\n",  "*2\r\n",  "*0\r\n", "*-1\r\n",  "$0\r\n",   "$1\r\n",
               "$3\r\n", "$-1\r\n", "abc\r\n", "a\r\n",  ":1\r\n",   "+OK\r\n",  "-ERR\r\n",
               "%1\r\n", "~1\r\n",  "_\r\n",   "#t\r\n", ",1.5\r\n", "PING\r\n", "a \"b c\" 'd'\n"})},
       {1, rc::gen::container<std::string>(rc::gen::arbitrary<char>())},
       {1, rc::gen::elementOf(std::vector<std::string>{"*", "$", "\r", "\n", "\"", "'", "\\", " ", "POST ", "1"})}});
  std::string bytes;
  for (const std::string& each : *rc::gen::container<std::vector<std::string>>(piece)) bytes += each;
  return bytes;
}

RC_GTEST_PROP(RespProperty, CommandsRoundTrip, ()) {
  auto commands = *rc::gen::container<std::vector<Command>>(rc::gen::nonEmpty<Command>());
  std::string bytes;
  for (Command& command : commands) {
    command[0] += '.';  // avoids the detection of HTTP
    const std::vector<std::string_view> views(command.begin(), command.end());
    append_command(bytes, views);
  }
  const Conversation expected{commands};
  RC_ASSERT(read_commands(bytes, whole) == expected);
  RC_ASSERT(read_commands(bytes, any_pieces()) == expected);
}

RC_GTEST_PROP(RespProperty, QuotedInlineCommandsRoundTrip, ()) {
  Command command = *rc::gen::nonEmpty<Command>();
  command[0] += '.';
  std::string bytes;
  for (const std::string& word : command) {
    bytes += bytes.empty() ? "\"" : " \"";
    for (const char c : word) {
      static constexpr std::string_view hex = "0123456789aBcDeF";
      const auto byte = static_cast<unsigned char>(c);
      bytes += "\\x";
      bytes += hex[byte / 16];
      bytes += hex[byte % 16];
    }
    bytes += '"';
  }
  bytes += "\r\n";
  RC_ASSERT(read_commands(bytes, any_pieces()) == Conversation{{command}});
}

RC_GTEST_PROP(RespProperty, SplittingDoesNotChangeCommands, ()) {
  const std::string bytes = any_protocol_bytes();
  const CommandLimits limits{.arguments = 3, .bulk_length = 5, .inline_length = 20, .command_length = 40};
  for (const Peer peer : {Peer::unauthenticated, Peer::authenticated}) {
    const Conversation heard = read_commands(bytes, whole, CommandParser(limits, peer));
    RC_ASSERT(read_commands(bytes, byte_by_byte, CommandParser(limits, peer)) == heard);
    RC_ASSERT(read_commands(bytes, any_pieces(), CommandParser(limits, peer)) == heard);
  }
}

// Byte by byte, the parser cannot use the layout of the previous command.
RC_GTEST_PROP(RespProperty, ACommandLikeThePreviousOneIsParsedTheSame, ()) {
  auto command =
      *rc::gen::nonEmpty(rc::gen::container<Command>(rc::gen::container<std::string>(rc::gen::inRange('0', 'z'))));
  command[0] += '.';
  std::string one;
  append_command(one, std::vector<std::string_view>(command.begin(), command.end()));
  std::string bytes = one + one + one;
  bytes[*rc::gen::inRange(one.size(), 2 * one.size())] = *rc::gen::elementOf(std::string("*$\r\n0123456789a"));
  RC_ASSERT(read_commands(bytes, whole) == read_commands(bytes, byte_by_byte));
}

RC_GTEST_PROP(RespProperty, SplittingDoesNotChangeReplies, ()) {
  const std::string bytes = any_protocol_bytes();
  const ReplyLimits limits{.depth = 3, .elements = 6, .length = 40};
  const Answers answers = read_replies(bytes, whole, limits);
  RC_ASSERT(read_replies(bytes, byte_by_byte, limits) == answers);
  RC_ASSERT(read_replies(bytes, any_pieces(), limits) == answers);
}

// Writes a random value and returns its expected description.
std::string write_any(ReplyWriter& writer, int depth) {
  const int kind = *rc::gen::inRange(0, depth > 0 ? 10 : 7);
  const auto quoted = [](const std::string& text) { return " \"" + text + '"'; };
  if (kind == 0) {
    const auto number = *rc::gen::arbitrary<std::int64_t>();
    writer.integer(number);
    return "integer" + quoted(std::to_string(number));
  }
  if (kind == 3) return writer.null(), "null";
  if (kind == 4) return writer.boolean(true), "boolean \"t\"";
  if (kind == 1 || kind == 2 || kind == 5 || kind == 6) {
    auto text = *rc::gen::arbitrary<std::string>();
    if (kind == 1) return writer.bulk(text), "bulk" + quoted(text);
    if (kind == 2) return writer.verbatim(text), "verbatim" + quoted(text);
    kind == 5 ? writer.simple_string(text) : writer.error(text);
    for (char& c : text) c = c == '\r' || c == '\n' ? ' ' : c;
    return (kind == 5 ? "simple" : "error") + quoted(text);
  }
  const std::size_t size = *rc::gen::inRange<std::size_t>(0, 4);
  if (kind == 7) writer.array(size);
  if (kind == 8) writer.map(size);
  if (kind == 9) writer.set(size);
  std::string text = kind == 7 ? "array[" : kind == 8 ? "map[" : "set[";
  for (std::size_t i = 0; i < size * (kind == 8 ? 2 : 1); ++i)
    text += (i == 0 ? "" : ", ") + write_any(writer, depth - 1);
  return text + ']';
}

RC_GTEST_PROP(RespProperty, RepliesRoundTrip, ()) {
  std::string bytes;
  ReplyWriter writer(bytes, Protocol::resp3);
  std::vector<std::string> expected;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) expected.push_back(write_any(writer, 4));
  RC_ASSERT(read_replies(bytes, whole) == Answers{expected});
  RC_ASSERT(read_replies(bytes, any_pieces()) == Answers{expected});
}

RC_GTEST_PROP(RespProperty, DoublesRoundTripExactly, (double number)) {
  std::string bytes;
  ReplyWriter(bytes, Protocol::resp3).real(number);
  ReplyParser parser;
  RC_ASSERT(parser.next(bytes).status == ReplyParser::Status::reply);
  RC_ASSERT(parser.reply().real() == number);
}

RC_GTEST_PROP(RespProperty, ThrottleRepliesRoundTrip, (std::array<std::int64_t, 5> n)) {
  std::string bytes;
  append_throttle_reply(bytes, {n[0], n[1], n[2], n[3], n[4]});
  ReplyParser parser;
  RC_ASSERT(parser.next(bytes) == (ReplyParser::Step{ReplyParser::Status::reply, bytes.size()}));
  for (std::size_t i = 0; i < n.size(); ++i) RC_ASSERT(parser.reply()[i].integer() == n[i]);
}

}  // namespace
}  // namespace weir::wire::resp
