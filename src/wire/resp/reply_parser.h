// The client's side of the Redis protocol: bytes to replies, RESP2 and RESP3, one at a time, whatever the pieces
// they come in. Used as CommandParser is:
//
//   for (;;) {
//     const auto step = parser.next(unread);
//     if (step.status != Status::reply) break;        // need_more: read on; refused: see problem(), and close
//     take(parser.reply());
//     unread.remove_prefix(step.consumed);
//   }
//
// Invariants:
//  1. What is found depends on the bytes alone, never on how they were cut.
//  2. A reply is consumed as a whole or not at all. Until it is, `unread` starts with the same bytes; it may be
//     elsewhere in memory each time.
//  3. A refusal is final. A server that is not one, or not of this protocol, costs no more than the limits say:
//     what a header announces is refused by its number, before any of it is kept.
//  4. Nothing is allocated per reply once the largest has been seen.
//
// Refused besides what is malformed or beyond the limits: attributes and streamed types, which no server sends to
// one who did not ask. Not thread-safe: one parser per connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "wire/resp/reply.h"

namespace weir::wire::resp {

struct ReplyLimits {
  std::size_t depth = 16;           // of aggregates in aggregates
  std::size_t elements = 262'144;   // values in all
  std::size_t length = 16'777'216;  // bytes in all; below 4 GiB
};

class ReplyParser {
 public:
  enum class Status : std::uint8_t { reply, need_more, refused };

  struct Step {
    Status status;
    std::size_t consumed;  // 0 unless it is a reply

    friend bool operator==(const Step&, const Step&) = default;
  };

  explicit ReplyParser(ReplyLimits limits = {}) noexcept : limits_(limits) {}

  [[nodiscard]] Step next(std::string_view unread);

  // The last one, after Status::reply. Void once its bytes go or next() is called.
  [[nodiscard]] Reply reply() const noexcept { return {nodes_.data(), bytes_}; }

  // What is wrong with the bytes, once they are refused.
  [[nodiscard]] std::string_view problem() const noexcept { return problem_; }

 private:
  enum class Taken : std::uint8_t { whole, partial, refused };

  struct OpenAggregate {
    std::size_t node;
    std::size_t missing;
  };

  Taken take_value(std::string_view unread);
  Taken take_scalar(char sigil, std::string_view line, std::size_t end);
  Taken take_bytes(std::string_view unread, char sigil, std::string_view line, std::size_t end);
  Taken take_aggregate(char sigil, std::string_view line, std::size_t end);
  ReplyNode& add(ReplyType type, std::size_t begin, std::size_t length);
  Taken finish_value(std::size_t end);
  Taken refuse(std::string_view problem) noexcept;

  ReplyLimits limits_;
  std::string_view problem_;

  std::vector<ReplyNode> nodes_;     // so far; whole when nothing is open
  std::vector<OpenAggregate> open_;  // innermost last
  std::size_t announced_ = 0;        // elements that open aggregates still miss
  std::size_t offset_ = 0;           // of the next value
  std::size_t searched_ = 0;         // no line's end before this
  const char* bytes_ = nullptr;
};

}  // namespace weir::wire::resp
