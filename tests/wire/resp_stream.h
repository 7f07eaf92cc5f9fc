// Feeds parsers of the Redis protocol with bytes split into pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wire/resp/command_parser.h"
#include "wire/resp/reply_parser.h"

namespace weir::wire::resp {

// Feeds `bytes` to a parser in pieces of `piece(i)` bytes. After each piece the unread bytes are copied to a buffer of
// the exact size, so that AddressSanitizer finds reads beyond their end.
template <class Parser, class Piece, class Take>
typename Parser::Status feed(Parser& parser, std::string_view bytes, Piece piece, Take take) {
  std::size_t begin = 0;
  std::size_t end = 0;
  typename Parser::Status status = Parser::Status::need_more;
  for (std::size_t i = 0; status == Parser::Status::need_more && end < bytes.size(); ++i) {
    end = std::min(bytes.size(), end + std::max<std::size_t>(piece(i), 1));
    const auto memory = std::make_unique<char[]>(end - begin);
    std::copy(bytes.data() + begin, bytes.data() + end, memory.get());
    std::string_view unread(memory.get(), end - begin);
    for (;;) {
      const auto step = parser.next(unread);
      status = step.status;
      unread.remove_prefix(step.consumed);
      begin += step.consumed;
      if (!take(status)) break;
    }
  }
  return status;
}

struct Conversation {
  std::vector<std::vector<std::string>> commands = {};
  CommandParser::Status status = CommandParser::Status::need_more;
  std::string error = {};

  friend bool operator==(const Conversation&, const Conversation&) = default;
};

inline constexpr auto whole = [](std::size_t) { return std::string_view::npos / 2; };
inline constexpr auto byte_by_byte = [](std::size_t) { return std::size_t{1}; };

template <class Piece>
Conversation read_commands(std::string_view bytes, Piece piece, CommandParser parser = CommandParser()) {
  Conversation heard;
  heard.status = feed(parser, bytes, piece, [&](CommandParser::Status status) {
    if (status != CommandParser::Status::command) return false;
    heard.commands.emplace_back(parser.arguments().begin(), parser.arguments().end());
    return true;
  });
  heard.error = parser.error();
  return heard;
}

// Describes a reply as text: `array[integer 1, bulk "a"]`.
inline std::string described(Reply reply) {
  static constexpr std::string_view names[] = {"simple", "error",      "integer", "bulk", "verbatim", "null", "boolean",
                                               "real",   "big_number", "array",   "map",  "set",      "push"};
  std::string text(names[static_cast<std::size_t>(reply.type())]);
  if (reply.type() >= ReplyType::array) {
    text += '[';
    for (const Reply element : reply) text += (text.back() == '[' ? "" : ", ") + described(element);
    return text + ']';
  }
  if (reply.is(ReplyType::null)) return text;
  return text + " \"" + std::string(reply.text()) + '"';
}

struct Answers {
  std::vector<std::string> replies = {};
  ReplyParser::Status status = ReplyParser::Status::need_more;
  std::string problem = {};

  friend bool operator==(const Answers&, const Answers&) = default;
};

template <class Piece>
Answers read_replies(std::string_view bytes, Piece piece, ReplyLimits limits = {}) {
  Answers answers;
  ReplyParser parser(limits);
  answers.status = feed(parser, bytes, piece, [&](ReplyParser::Status status) {
    if (status != ReplyParser::Status::reply) return false;
    answers.replies.push_back(described(parser.reply()));
    return true;
  });
  answers.problem = parser.problem();
  return answers;
}

}  // namespace weir::wire::resp
