// Reads a request target so that no spelling of a path escapes the limit on it.
//
// Servers disagree on what a path means, and Weir does not know which server is behind it. So where a target is
// ambiguous, *each ambiguous part may be read either way, independently of the others*, and every route that matches
// any of these readings counts. An extra reading affects only the client that wrote an odd path; a missing reading
// would let it bypass a limit.
//
// A target is cut at the first `?`, an absolute form (`http://host/login`) is reduced to its path, and the path is
// split into pieces at `/`, at `\`, and at either of them percent-encoded, once or several times. Each piece is
// compared by segment_text() (policy/route_template.h). Ambiguous parts:
//
//   a `\` or an encoded slash        a separator, or part of a segment (which only a parameter can match)
//   `.`, nothing (`//`), `;x`, `%20` no segment (nginx, Tomcat), or a segment of that text (Express, chi)
//   `..`                             removes the previous segment, never above the root; or is a segment
//   `%00`, `%0A`, `%3F`, `#`         the path ends here (C strings, a `$` in a pattern), or continues
//   `;a%2Fb`                         after a `;`, what follows an encoded slash may belong to the parameters
//   `//host/login`                   the first piece is a host (`new URL(target, base)`), or a segment
//   `%6cogin`, `login;x`             the literal `login`, or a text that only a parameter matches (Express)
//
// A slash at the end is ignored, and so is the case of letters. A path without ambiguous parts is *plain*: it has one
// reading and takes one walk.
//
// A target is `unreadable`, and matches every route of its method, if it is longer than `max_length`; if it has more
// than `max_pieces` pieces that are not all plain segments (if they are, it is `longer` and read exactly: only routes
// that end in `**` match it); if it contains raw control characters; or if it is neither `/path`, `scheme://host/path`
// nor `*`. `*` and the empty target are read as `/`.
//
// Not covered, because they are other paths and not other spellings: format suffixes (`/login.json`), letters beyond
// ASCII that fold or normalise to ASCII, and overlong UTF-8 of three bytes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace weir::match {

namespace segment_hash_detail {

template <class Word>
[[nodiscard]] inline std::uint64_t word_at(const char* from) noexcept {
  Word word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Loads up to eight bytes as one word. Some bytes may be loaded twice.
[[nodiscard]] inline std::uint64_t short_word(std::string_view text) noexcept {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  if (text.size() >= 4) return word_at<std::uint32_t>(begin) << 32 | word_at<std::uint32_t>(end - 4);
  if (text.size() >= 2) return word_at<std::uint16_t>(begin) << 16 | word_at<std::uint16_t>(end - 2);
  return text.empty() ? 0 : word_at<std::uint8_t>(begin);
}

}  // namespace segment_hash_detail

// The hash of a segment's text for lookups among a policy's literals. It is not keyed: clients choose what is looked up
// but not what is stored, so they cannot lengthen a lookup.
[[nodiscard]] inline std::uint64_t segment_hash(std::string_view text) noexcept {
  using namespace segment_hash_detail;
  constexpr std::uint64_t odd = 0x9E37'79B9'7F4A'7C15;
  std::uint64_t hash = text.size() * odd;
  for (; text.size() > 8; text.remove_prefix(8)) {
    hash = (std::rotl(hash, 23) ^ word_at<std::uint64_t>(text.data())) * odd;
  }
  hash = (std::rotl(hash, 23) ^ short_word(text)) * odd;
  return hash ^ hash >> 32;
}

struct Piece {
  enum Flag : std::uint8_t {
    follows_soft_separator = 1,  // may belong to the previous piece
    may_vanish = 2,
    may_go_up = 4,
    may_end_path = 8,
    may_differ = 16,  // may differ from a literal of the same text
  };

  std::string_view text;
  std::uint64_t hash = 0;  // segment_hash(text)
  std::uint8_t flags = 0;

  [[nodiscard]] bool has(Flag flag) const noexcept { return (flags & flag) != 0; }
};

struct PathReading {
  enum class Kind : std::uint8_t { plain, ambiguous, unreadable };

  Kind kind = Kind::plain;
  bool longer = false;              // more segments than pieces, all plain or respelled
  std::span<const Piece> pieces{};  // empty if unreadable
};

// Owns the text of its last reading, about 11 KiB. Reusable, not thread-safe. Never allocates.
class PathReader {
 public:
  static constexpr std::size_t max_length = 8192;
  static constexpr std::size_t max_pieces = 64;

  PathReader() = default;
  PathReader(const PathReader&) = delete;
  PathReader& operator=(const PathReader&) = delete;

  // The result is valid until the next call.
  [[nodiscard]] PathReading read(std::string_view target) noexcept;

 private:
  // The state of the reading so far.
  struct Progress {
    std::size_t pieces = 0;   // including those beyond max_pieces
    std::size_t written = 0;  // bytes of text_
    unsigned flags = 0;       // flags of all pieces
    bool respelled = false;   // the segment was decoded
    bool only_empty = true;   // only pieces without text so far
    bool swallows = false;    // text up to the next `/` may belong to parameters or a host
  };

  bool read_plain(std::string_view path, PathReading& reading) noexcept;
  PathReading read_any(std::string_view path) noexcept;
  void add_segment(std::string_view raw, Progress& progress) noexcept;
  void add_piece(std::span<char> decoded, bool soft, Progress& progress) noexcept;

  std::array<Piece, max_pieces> pieces_;
  std::array<char, max_length> text_;
};

}  // namespace weir::match
