// Parses the replies of a server of the Redis protocol, RESP2 and RESP3, in pieces of any size.
//
//   for (;;) {
//     const auto step = parser.next(unread);
//     if (step.status != Status::reply) break;        // need_more: read on; refused: see problem(), and close
//     take(parser.reply());
//     unread.remove_prefix(step.consumed);
//   }
//
// Invariants:
//  1. The result depends only on the bytes, not on how they were split.
//  2. A reply is consumed as a whole or not at all. Until then, `unread` must start with the same bytes; they may move
//     between calls.
//  3. A refusal is final. Announced sizes are checked against the limits before anything is allocated.
//  4. Memory is allocated only for a larger reply than before.
//
// Also refused are attributes and streamed types, which a server sends only on request. Not thread-safe: use one parser
// per connection.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace weir::wire::resp {

enum class ReplyType : std::uint8_t {
  simple_string,
  error,  // simple (-) or bulk (!)
  integer,
  bulk,
  verbatim,  // text() without its format
  null,      // _, $-1 or *-1
  boolean,
  real,
  big_number,  // see text()
  array,
  map,
  set,
  push,  // an out-of-band message
};

// One value of the tree. The tree is a list in the order of the bytes: each aggregate is followed by its elements.
struct ReplyNode {
  ReplyType type = ReplyType::null;
  std::uint32_t elements = 0;  // direct elements of an aggregate; a map has two per pair
  std::uint32_t extent = 1;    // the number of nodes including this one, which is the distance to the next sibling
  std::uint32_t begin = 0;     // the offset of the text in the reply
  std::uint32_t length = 0;
  std::int64_t number = 0;  // the value of an integer or boolean, or the bits of a double
};

// A value or a tree of values. A view of two pointers, valid as long as the parser's tree and the bytes it was read
// from.
class Reply {
 public:
  class Iterator;

  Reply(const ReplyNode* node, const char* bytes) noexcept : node_(node), bytes_(bytes) {}

  [[nodiscard]] ReplyType type() const noexcept { return node_->type; }
  [[nodiscard]] bool is(ReplyType type) const noexcept { return node_->type == type; }

  // The value of an integer or a boolean (1 or 0); otherwise 0.
  [[nodiscard]] std::int64_t integer() const noexcept { return is(ReplyType::real) ? 0 : node_->number; }
  // The value of a double; otherwise 0.
  [[nodiscard]] double real() const noexcept {
    return is(ReplyType::real) ? std::bit_cast<double>(node_->number) : 0.0;
  }

  // The text of a string, error or big number, or another scalar as written; otherwise empty.
  [[nodiscard]] std::string_view text() const noexcept { return {bytes_ + node_->begin, node_->length}; }

  // The elements of an aggregate; a map's are key, value, key, value, ...
  [[nodiscard]] std::size_t size() const noexcept { return node_->elements; }
  [[nodiscard]] inline Iterator begin() const noexcept;
  [[nodiscard]] inline Iterator end() const noexcept;

  // `index` must be less than size(). Linear in `index`; iterate to visit all elements.
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
  std::size_t depth = 16;           // maximum depth of nested aggregates
  std::size_t elements = 262'144;   // maximum number of values in a reply
  std::size_t length = 16'777'216;  // maximum bytes of a reply; must be below 4 GiB
};

class ReplyParser {
 public:
  enum class Status : std::uint8_t { reply, need_more, refused };

  struct Step {
    Status status;
    std::size_t consumed;  // 0 unless status is reply

    friend bool operator==(const Step&, const Step&) = default;
  };

  explicit ReplyParser(ReplyLimits limits = {}) noexcept : limits_(limits) {}

  [[nodiscard]] Step next(std::string_view unread);

  // The last reply, after Status::reply. Valid as long as its bytes and until next() is called.
  [[nodiscard]] Reply reply() const noexcept { return {nodes_.data(), bytes_}; }

  // The reason, once refused: `an invalid integer`.
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

  std::vector<ReplyNode> nodes_;     // complete when open_ is empty
  std::vector<OpenAggregate> open_;  // innermost last
  std::size_t announced_ = 0;        // missing elements of open aggregates
  std::size_t offset_ = 0;           // offset of the next value
  std::size_t searched_ = 0;         // no line end exists before this offset
  const char* bytes_ = nullptr;
};

}  // namespace weir::wire::resp
