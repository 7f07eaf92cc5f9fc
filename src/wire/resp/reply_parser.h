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
// Refused besides what is malformed or beyond the limits: attributes and streamed types, which no server sends
// unless it was asked to. Not thread-safe: one parser per connection.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace weir::wire::resp {

enum class ReplyType : std::uint8_t {
  simple_string,
  error,  // of one line (-) or of any length (!)
  integer,
  bulk,
  verbatim,  // text() without its format
  null,      // of any kind: _ $-1 *-1
  boolean,
  real,
  big_number,  // as text()
  array,
  map,
  set,
  push,  // sent unasked
};

// One value of the tree. The tree is a list in the order of the bytes: each aggregate, then its elements.
struct ReplyNode {
  ReplyType type = ReplyType::null;
  std::uint32_t elements = 0;  // of an aggregate, not counting theirs; a map has two per pair
  std::uint32_t extent = 1;    // nodes in all, itself included: the next sibling is that far
  std::uint32_t begin = 0;     // of the text, as an offset from the reply's first byte
  std::uint32_t length = 0;
  std::int64_t number = 0;  // of an integer or a boolean; of a double its bits
};

// A value, or a tree of them. A view, two pointers: it holds as long as the parser's tree and the bytes that it was
// read from do.
class Reply {
 public:
  class Iterator;

  Reply(const ReplyNode* node, const char* bytes) noexcept : node_(node), bytes_(bytes) {}

  [[nodiscard]] ReplyType type() const noexcept { return node_->type; }
  [[nodiscard]] bool is(ReplyType type) const noexcept { return node_->type == type; }

  // Of an integer, or a boolean (1 or 0); otherwise 0.
  [[nodiscard]] std::int64_t integer() const noexcept { return is(ReplyType::real) ? 0 : node_->number; }
  // Of a double; otherwise 0.
  [[nodiscard]] double real() const noexcept {
    return is(ReplyType::real) ? std::bit_cast<double>(node_->number) : 0.0;
  }

  // Of strings, errors and big numbers; of the other scalars as written; otherwise empty.
  [[nodiscard]] std::string_view text() const noexcept { return {bytes_ + node_->begin, node_->length}; }

  // The elements of an aggregate; a map's are key, value, key, value, ...
  [[nodiscard]] std::size_t size() const noexcept { return node_->elements; }
  [[nodiscard]] inline Iterator begin() const noexcept;
  [[nodiscard]] inline Iterator end() const noexcept;

  // `index` < size(). Steps over the elements before it: to visit all, iterate.
  [[nodiscard]] inline Reply operator[](std::size_t index) const noexcept;

 private:
  const ReplyNode* node_;
  const char* bytes_;
};

class Reply::Iterator {
 public:
  Iterator(const ReplyNode* node, const char* bytes) noexcept : node_(node), bytes_(bytes) {}

  Reply operator*() const noexcept { return {node_, bytes_}; }
  Iterator& operator++() noexcept {
    node_ += node_->extent;
    return *this;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.node_ == b.node_; }

 private:
  const ReplyNode* node_;
  const char* bytes_;
};

inline Reply::Iterator Reply::begin() const noexcept {
  return {node_ + 1, bytes_};
}

inline Reply::Iterator Reply::end() const noexcept {
  return {node_ + node_->extent, bytes_};
}

inline Reply Reply::operator[](std::size_t index) const noexcept {
  Iterator element = begin();
  while (index-- > 0) ++element;
  return *element;
}

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
