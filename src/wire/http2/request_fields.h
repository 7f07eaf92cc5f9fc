// The header fields of a request: what HTTP asks of each, of all of them together and of the body behind them. nghttp2
// could check this too, at more cost for each request: docs/decisions/0014.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace weir::wire::http2 {

// The fields that are kept; of one that is repeated, the first. The others only count.
enum class Field : std::uint8_t {
  method,
  path,
  content_type,
  grpc_timeout,
  grpc_encoding,
  weir_token,
  authorization,
};
inline constexpr std::size_t kept_fields = 7;

// What HTTP asks of one header field of a request (RFC 9113, 8.2 and 8.3), whatever stands beside it.
struct FieldFinding {
  // What the request is known to have with this field. The first six may be there once.
  enum Mark : std::uint16_t {
    method = 1U << 0U,
    scheme = 1U << 1U,
    authority = 1U << 2U,
    path = 1U << 3U,
    host = 1U << 4U,
    content_length = 1U << 5U,
    regular = 1U << 6U,  // a field whose name does not begin with `:`, behind which no other may come
    connect = 1U << 7U,  // by its method
    options = 1U << 8U,
    of_the_web = 1U << 9U,  // by its scheme: http or https
    rooted = 1U << 10U,     // by its path: /...
    asterisk = 1U << 11U,   // *
  };

  bool malformed = false;        // and so is the request
  bool malformed_value = false;  // the same, but the value alone is, and nothing else depends on it
  std::uint16_t marks = 0;
  std::optional<Field> field = std::nullopt;  // if it is one that is kept
  std::uint64_t length = 0;                   // that content-length says
};

// Pure.
[[nodiscard]] FieldFinding examine(std::string_view name, std::string_view value) noexcept;

// The header fields that came last over one connection, and what was found of each. The requests of a client are much
// alike: most fields are as they were at the same place of the one before, and are not examined again. Not thread-safe.
class FieldMemory {
 public:
  // Of another list of fields.
  void begin() noexcept { next_ = 0; }

  // Of the next field of the list.
  [[nodiscard]] FieldFinding look_at(std::string_view name, std::string_view value) noexcept {
    if (next_ == places_.size()) return examine(name, value);
    Place& place = places_[next_++];
    if (place.holds(name, value)) return place.finding;
    const FieldFinding found = examine(name, value);
    place.remember(name, value, found);
    return found;
  }

 private:
  static constexpr std::size_t remembered = 16;
  static constexpr std::size_t longest = 112;  // name and value

  // By words, the last of which may reach back into the one before: most texts are a few words long.
  template <class Word>
  [[nodiscard]] static bool is_same_by(const char* one, const char* other, std::size_t size) noexcept {
    const auto differ = [&](std::size_t at) {
      std::array<Word, 2> words;
      std::memcpy(&words[0], one + at, sizeof(Word));
      std::memcpy(&words[1], other + at, sizeof(Word));
      return words[0] != words[1];
    };
    const std::size_t last = size - sizeof(Word);
    for (std::size_t at = 0; at < last; at += sizeof(Word)) {
      if (differ(at)) return false;
    }
    return !differ(last);
  }
  [[nodiscard]] static bool is_same(const char* one, const char* other, std::size_t size) noexcept {
    if (size >= sizeof(std::uint64_t)) return is_same_by<std::uint64_t>(one, other, size);
    if (size >= sizeof(std::uint32_t)) return is_same_by<std::uint32_t>(one, other, size);
    return size == 0 || is_same_by<std::uint8_t>(one, other, size);
  }

  struct Place {
    [[nodiscard]] bool holds(std::string_view name, std::string_view value) const noexcept {
      return known && name.size() == name_size && value.size() == value_size &&
             is_same(text.data(), name.data(), name_size) && is_same(text.data() + name_size, value.data(), value_size);
    }
    void remember(std::string_view name, std::string_view value, const FieldFinding& found) noexcept {
      known = name.size() + value.size() <= longest;
      if (!known) return;
      name.copy(text.data(), name.size());
      value.copy(text.data() + name.size(), value.size());
      name_size = name.size();
      value_size = value.size();
      finding = found;
    }

    bool known = false;
    std::size_t name_size;
    std::size_t value_size;
    FieldFinding finding;
    std::array<char, longest> text;
  };

  std::array<Place, remembered> places_;
  std::size_t next_ = 0;
};

// What HTTP asks of the header fields of a request together, and of its body (RFC 9113, 8.1 and 8.3). Each step is
// false if the request is malformed.
class RequestShape {
 public:
  // Also of trailers, which are not to say again what the head has said.
  [[nodiscard]] bool add(const FieldFinding& found) noexcept {
    using Mark = FieldFinding;
    constexpr unsigned once =
        Mark::method | Mark::scheme | Mark::authority | Mark::path | Mark::host | Mark::content_length;
    if (found.malformed || (marks_ & found.marks & once) != 0) return false;
    if ((marks_ & Mark::regular) != 0 && (found.marks & Mark::regular) == 0) return false;
    marks_ |= found.marks;
    if ((found.marks & Mark::content_length) != 0) length_ = found.length;
    return true;
  }

  [[nodiscard]] bool end_head() noexcept {
    using Mark = FieldFinding;
    marks_ |= Mark::regular;
    if (has(Mark::connect)) {
      marks_ &= ~unsigned{Mark::content_length};  // a tunnel has no length
      return has(Mark::authority) && !has(Mark::scheme) && !has(Mark::path);
    }
    if (!has(Mark::method) || !has(Mark::scheme) || !has(Mark::path)) return false;
    if (!has(Mark::authority) && !has(Mark::host)) return false;
    return !has(Mark::of_the_web) || has(Mark::rooted) || (has(Mark::options) && has(Mark::asterisk));
  }

  [[nodiscard]] bool add_body(std::size_t size) noexcept {
    received_ += size;
    return !has(FieldFinding::content_length) || received_ <= length_;
  }

  [[nodiscard]] bool end_body() const noexcept { return !has(FieldFinding::content_length) || received_ == length_; }

 private:
  [[nodiscard]] bool has(FieldFinding::Mark mark) const noexcept { return (marks_ & mark) != 0; }

  unsigned marks_ = 0;
  std::uint64_t length_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace weir::wire::http2
