// Validates the header fields and the body length of a request. nghttp2 can do this too, at a higher cost per request:
// docs/decisions/0014.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace weir::wire::http2 {

// The fields that are stored; the first of duplicates takes precedence. Other fields only count towards the size.
enum class Field : std::uint8_t {
  method,
  path,
  content_type,
  grpc_timeout,
  grpc_encoding,
  weir_token,
  authorization,
};
inline constexpr std::size_t stored_fields = 7;

// The result of validating one header field on its own (RFC 9113, 8.2 and 8.3).
struct FieldFinding {
  // The properties of the request that follow from this field. The first six must not repeat.
  enum Mark : std::uint16_t {
    method = 1U << 0U,
    scheme = 1U << 1U,
    authority = 1U << 2U,
    path = 1U << 3U,
    host = 1U << 4U,
    content_length = 1U << 5U,
    regular = 1U << 6U,  // not a pseudo-header field; no pseudo-header field may follow it
    connect = 1U << 7U,  // the method is CONNECT
    options = 1U << 8U,
    http_scheme = 1U << 9U,  // the scheme is http or https
    rooted = 1U << 10U,      // the path begins with a slash
    asterisk = 1U << 11U,    // the path is `*`
  };

  bool malformed = false;        // the request is malformed
  bool malformed_value = false;  // only the value is malformed, and framing does not depend on it
  std::uint16_t marks = 0;
  std::optional<Field> field = std::nullopt;  // set if the field is stored
  std::uint64_t length = 0;                   // the value of content-length
};

[[nodiscard]] FieldFinding examine(std::string_view name, std::string_view value) noexcept;

// Caches the findings for the header fields of the previous request of a connection, by position. Most requests of a
// client repeat the fields of the previous one, which need not be examined again. Not thread-safe.
class FieldMemory {
 public:
  // Starts another list of fields.
  void begin() noexcept { next_ = 0; }

  // The finding for the next field of the list.
  [[nodiscard]] FieldFinding find_or_examine(std::string_view name, std::string_view value) noexcept {
    if (next_ == slots_.size()) return examine(name, value);
    Slot& slot = slots_[next_++];
    if (slot.matches(name, value)) return slot.finding;
    const FieldFinding found = examine(name, value);
    slot.set(name, value, found);
    return found;
  }

 private:
  static constexpr std::size_t slot_count = 16;
  static constexpr std::size_t max_length = 112;  // maximum length of name and value together

  // Compares by words; the last one may overlap the one before.
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

  struct Slot {
    [[nodiscard]] bool matches(std::string_view name, std::string_view value) const noexcept {
      return known && name.size() == name_size && value.size() == value_size &&
             is_same(text.data(), name.data(), name_size) && is_same(text.data() + name_size, value.data(), value_size);
    }
    void set(std::string_view name, std::string_view value, const FieldFinding& found) noexcept {
      known = name.size() + value.size() <= max_length;
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
    std::array<char, max_length> text;
  };

  std::array<Slot, slot_count> slots_;
  std::size_t next_ = 0;
};

// Validates the header fields of a request together, and its body length (RFC 9113, 8.1 and 8.3). Each function returns
// false if the request is malformed.
class RequestShape {
 public:
  // Also called for trailers, which must not repeat these fields.
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
    return !has(Mark::http_scheme) || has(Mark::rooted) || (has(Mark::options) && has(Mark::asterisk));
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
