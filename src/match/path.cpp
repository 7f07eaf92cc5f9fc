#include "match/path.h"

#include <algorithm>
#include <climits>

#include "base/ascii.h"
#include "policy/route_template.h"

namespace weir::match {
namespace {

using base::is_control;
using base::to_lower;

enum class Class : std::uint8_t { ordinary, separator, end, odd };

// `odd` characters may make a path ambiguous, or change more than the case of its letters.
constexpr Class class_of(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '/') return Class::separator;
  if (c == '?') return Class::end;
  const bool odd =
      is_control(c) || byte == 0xC0 || byte == 0xC1 || c == ' ' || c == '%' || c == ';' || c == '\\' || c == '#';
  return odd ? Class::odd : Class::ordinary;
}

struct Traits {
  Class kind = Class::ordinary;
  char lower = '\0';
};

constexpr auto traits = [] {
  std::array<Traits, UCHAR_MAX + 1> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const char c = static_cast<char>(static_cast<unsigned char>(i));
    table[i] = {class_of(c), to_lower(c)};
  }
  return table;
}();

constexpr bool separates(char c) noexcept {
  return c == '/' || c == '\\';
}

constexpr bool is_scheme_char(char c) noexcept {
  return base::is_letter_or_digit(c) || c == '+' || c == '-' || c == '.';
}

// Returns the path of an absolute form, and any other target unchanged.
std::string_view without_authority(std::string_view target) noexcept {
  const auto colon =
      static_cast<std::size_t>(std::find_if_not(target.begin(), target.end(), is_scheme_char) - target.begin());
  const std::string_view rest = target.substr(colon);
  if (colon == 0 || rest.size() < 3 || rest[0] != ':' || !separates(rest[1]) || !separates(rest[2])) return target;
  const std::size_t path = rest.find_first_of("/\\#", 3);
  if (path == std::string_view::npos) return {};
  // If the host is empty, some servers take the first segment as the host, so both slashes are kept, as in
  // `//host/login`.
  return rest.substr(path == 3 ? 2 : path);
}

// True for `host:443`, `mailto:x`: a colon before the first slash, and no absolute form.
bool is_no_path(std::string_view path) noexcept {
  const std::size_t first = path.find_first_of(":/\\");
  return first != std::string_view::npos && path[first] == ':';
}

constexpr PathReading unreadable{.kind = PathReading::Kind::unreadable};

}  // namespace

PathReading PathReader::read(std::string_view target) noexcept {
  PathReading reading;
  if (target.starts_with('/') && read_plain(target, reading)) return reading;
  std::string_view path = target.substr(0, target.find('?'));
  if (path == "*") return reading;
  path = without_authority(path);
  if (path.size() > max_length || is_no_path(path) || std::any_of(path.begin(), path.end(), is_control)) {
    return unreadable;
  }
  return read_any(path);
}

// The fast path for nearly all requests, in one pass. Returns false at the first sign of anything else.
bool PathReader::read_plain(std::string_view path, PathReading& reading) noexcept {
  const std::size_t length = std::min(path.size(), max_length);
  std::size_t count = 0;
  std::size_t begin = 1;
  const auto end_piece = [&](std::size_t end) {
    if (count == max_pieces || end == begin || text_[end - 1] == '.') return false;
    Piece& piece = pieces_[count++];
    piece.text = {text_.data() + begin, end - begin};
    piece.hash = segment_hash(piece.text);
    piece.flags = 0;
    begin = end + 1;
    return true;
  };
  std::size_t i = 1;
  for (; i < length; ++i) {
    const Traits of = traits[static_cast<unsigned char>(path[i])];
    text_[i] = of.lower;
    if (of.kind == Class::ordinary) continue;
    if (of.kind == Class::end) break;
    if (of.kind == Class::odd || !end_piece(i)) return false;
  }
  if (i == length && length < path.size()) return false;  // the path or only its query is too long: read() decides
  if (i > begin && !end_piece(i)) return false;
  reading.pieces = {pieces_.data(), count};
  return true;
}

PathReading PathReader::read_any(std::string_view path) noexcept {
  if (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  Progress progress;
  while (!path.empty()) {
    const std::size_t length = std::min(path.find('/'), path.size());
    add_segment(path.substr(0, length), progress);
    path.remove_prefix(std::min(length + 1, path.size()));
  }
  const bool longer = progress.pieces > max_pieces;
  // Past the depth of all routes, the text of a segment is irrelevant.
  if (longer && (progress.flags & ~unsigned{Piece::may_differ}) != 0) return unreadable;
  return {.kind = progress.flags != 0 ? PathReading::Kind::ambiguous : PathReading::Kind::plain,
          .longer = longer,
          .pieces = {pieces_.data(), std::min(progress.pieces, max_pieces)}};
}

// `raw` is the text between two slashes.
void PathReader::add_segment(std::string_view raw, Progress& progress) noexcept {
  const std::span<char> decoded(text_.data() + progress.written, policy::decode(raw, text_.data() + progress.written));
  progress.written += decoded.size();
  progress.swallows = false;
  progress.respelled = decoded.size() != raw.size();
  auto begin = decoded.begin();
  while (true) {
    const auto end = std::find_if(begin, decoded.end(), separates);
    add_piece({begin, end}, begin != decoded.begin(), progress);
    if (end == decoded.end()) return;
    begin = end + 1;
  }
}

void PathReader::add_piece(std::span<char> decoded, bool soft, Progress& progress) noexcept {
  const policy::SegmentText segment = policy::segment_text(decoded);
  const bool may_be_host = progress.pieces > 0 && progress.only_empty;
  unsigned flags = 0;
  if (soft) flags |= Piece::follows_soft_separator;
  if (segment.dots == 2) flags |= Piece::may_go_up;
  if (segment.may_end_path) flags |= Piece::may_end_path;
  if (progress.respelled || segment.text.size() != decoded.size()) flags |= Piece::may_differ;
  if (segment.may_be_empty || segment.dots == 1 || may_be_host || (soft && progress.swallows)) {
    flags |= Piece::may_vanish;
  }
  if (progress.pieces < max_pieces) {
    pieces_[progress.pieces] = {segment.text, segment_hash(segment.text), static_cast<std::uint8_t>(flags)};
  }
  ++progress.pieces;
  progress.flags |= flags;
  progress.only_empty &= segment.may_be_empty;
  progress.swallows |= segment.has_parameters || may_be_host;
}

}  // namespace weir::match
