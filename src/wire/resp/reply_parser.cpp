#include "wire/resp/reply_parser.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>

#include "base/ascii.h"
#include "base/number.h"
#include "wire/resp/integer_text.h"

namespace weir::wire::resp {
namespace {

std::optional<double> parse_real(std::string_view text) noexcept {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan" || text == "-nan") return std::numeric_limits<double>::quiet_NaN();
  const std::string_view unsigned_text = text.starts_with('-') ? text.substr(1) : text;
  if (unsigned_text.empty() || !base::is_digit(unsigned_text.front())) return {};
  return base::parse_number<double>(text);
}

bool is_big_number(std::string_view text) noexcept {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, base::is_digit);
}

constexpr auto known_sigils = [] {
  std::array<bool, 256> known{};
  for (const char sigil : std::string_view("+-:$*_#,(=!%~>")) known[static_cast<unsigned char>(sigil)] = true;
  return known;
}();

// The index of the line end from `from` on. Most lines are short, so a few bytes are tested before memchr is called.
std::size_t find_line_end(std::string_view unread, std::size_t from) noexcept {
  constexpr std::size_t few = 8;
  const std::size_t near = std::min(unread.size(), from + few);
  for (std::size_t at = from; at < near; ++at) {
    if (unread[at] == '\r') return at;
  }
  return unread.find('\r', near);
}

ReplyType aggregate_type(char sigil) noexcept {
  if (sigil == '*') return ReplyType::array;
  if (sigil == '%') return ReplyType::map;
  return sigil == '~' ? ReplyType::set : ReplyType::push;
}

}  // namespace

ReplyParser::Step ReplyParser::next(std::string_view unread) {
  if (!problem_.empty()) return {Status::refused, 0};
  if (offset_ == 0) {
    nodes_.clear();
    announced_ = 1;
  }
  while (announced_ > 0) {
    if (offset_ == unread.size()) return {Status::need_more, 0};
    const Taken taken = take_value(unread);
    if (taken == Taken::partial) return {Status::need_more, 0};
    if (taken == Taken::refused) return {Status::refused, 0};
  }
  bytes_ = unread.data();
  const std::size_t consumed = offset_;
  offset_ = 0;
  searched_ = 0;
  return {Status::reply, consumed};
}

ReplyParser::Taken ReplyParser::take_value(std::string_view unread) {
  const char sigil = unread[offset_];
  if (!known_sigils[static_cast<unsigned char>(sigil)]) return refuse("a value of unknown type");
  const std::size_t found = find_line_end(unread, std::max(offset_ + 1, searched_));
  searched_ = std::min(found, unread.size());
  if (searched_ + line_end.size() > limits_.length) return refuse("a reply that exceeds the length limit");
  if (searched_ + line_end.size() > unread.size()) return Taken::partial;
  if (unread[found + 1] != '\n') return refuse("a line that ends in CR without LF");

  const std::string_view line = unread.substr(offset_ + 1, found - offset_ - 1);
  const std::size_t end = found + line_end.size();
  switch (sigil) {
    case '$':
    case '=':
    case '!':
      return take_bytes(unread, sigil, line, end);
    case '*':
    case '%':
    case '~':
    case '>':
      return take_aggregate(sigil, line, end);
    default:
      return take_scalar(sigil, line, end);
  }
}

ReplyParser::Taken ReplyParser::take_scalar(char sigil, std::string_view line, std::size_t end) {
  auto type = ReplyType::null;
  std::int64_t number = 0;
  if (sigil == ':') {
    const auto integer = parse_integer(line);
    if (!integer) return refuse("an invalid integer");
    type = ReplyType::integer;
    number = *integer;
  } else if (sigil == '+') {
    type = ReplyType::simple_string;
  } else if (sigil == '-') {
    type = ReplyType::error;
  } else if (sigil == '_') {
    if (!line.empty()) return refuse("a null with a value");
  } else if (sigil == '#') {
    if (line != "t" && line != "f") return refuse("an invalid boolean");
    type = ReplyType::boolean;
    number = line == "t" ? 1 : 0;
  } else if (sigil == ',') {
    const auto real = parse_real(line);
    if (!real) return refuse("an invalid double");
    type = ReplyType::real;
    number = std::bit_cast<std::int64_t>(*real);
  } else {
    if (!is_big_number(line)) return refuse("an invalid big number");
    type = ReplyType::big_number;
  }
  add(type, offset_ + 1, line.size()).number = number;
  return finish_value(end);
}

ReplyParser::Taken ReplyParser::take_bytes(std::string_view unread, char sigil, std::string_view line,
                                           std::size_t end) {
  const auto length = parse_integer(line);
  if (length == -1 && sigil == '$') {
    add(ReplyType::null, 0, 0);
    return finish_value(end);
  }
  if (!length || *length < 0) return refuse("a string of invalid length");
  const auto size = static_cast<std::uint64_t>(*length);
  if (size > limits_.length || end + size + line_end.size() > limits_.length) {
    return refuse("a reply that exceeds the length limit");
  }
  if (unread.size() < end + size + line_end.size()) return Taken::partial;
  if (unread.substr(end + size, line_end.size()) != line_end) return refuse("a string that does not match its length");
  if (sigil == '=') {
    constexpr std::size_t format = 4;  // "txt:"
    if (size < format || unread[end + format - 1] != ':') return refuse("a verbatim string without a format");
    add(ReplyType::verbatim, end + format, size - format);
  } else {
    add(sigil == '!' ? ReplyType::error : ReplyType::bulk, end, size);
  }
  return finish_value(end + size + line_end.size());
}

ReplyParser::Taken ReplyParser::take_aggregate(char sigil, std::string_view line, std::size_t end) {
  const auto count = parse_integer(line);
  if (count == -1 && sigil == '*') {
    add(ReplyType::null, 0, 0);
    return finish_value(end);
  }
  if (!count || *count < 0) return refuse("an aggregate of invalid size");
  const std::uint64_t per_entry = sigil == '%' ? 2 : 1;
  const auto room = limits_.elements - std::min(limits_.elements, nodes_.size() + announced_);
  if (static_cast<std::uint64_t>(*count) > room / per_entry) return refuse("more elements than allowed");
  const std::size_t elements = static_cast<std::uint64_t>(*count) * per_entry;
  if (elements > 0 && open_.size() == limits_.depth) return refuse("aggregates nested too deeply");
  add(aggregate_type(sigil), 0, 0).elements = static_cast<std::uint32_t>(elements);
  if (elements == 0) return finish_value(end);
  open_.push_back({.node = nodes_.size() - 1, .missing = elements});
  announced_ += elements - 1;  // the aggregate itself is no longer missing
  offset_ = end;
  return Taken::whole;
}

// Constructs the node in place, which is faster than copying it.
ReplyNode& ReplyParser::add(ReplyType type, std::size_t begin, std::size_t length) {
  ReplyNode& node = nodes_.emplace_back();
  node.type = type;
  node.begin = static_cast<std::uint32_t>(begin);
  node.length = static_cast<std::uint32_t>(length);
  return node;
}

// Completes the last node and the aggregates that end with it.
ReplyParser::Taken ReplyParser::finish_value(std::size_t end) {
  --announced_;
  offset_ = end;
  while (!open_.empty() && --open_.back().missing == 0) {
    const std::size_t closed = open_.back().node;
    nodes_[closed].extent = static_cast<std::uint32_t>(nodes_.size() - closed);
    open_.pop_back();
  }
  return Taken::whole;
}

ReplyParser::Taken ReplyParser::refuse(std::string_view problem) noexcept {
  problem_ = problem;
  return Taken::refused;
}

}  // namespace weir::wire::resp
