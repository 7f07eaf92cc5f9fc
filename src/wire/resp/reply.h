// A reply of a Redis server, as parsed: a value, or a tree of them. See ReplyParser, which owns it.
//
// A Reply is a view, two pointers: it holds as long as the parser's tree and the bytes it was read from do.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

}  // namespace weir::wire::resp
