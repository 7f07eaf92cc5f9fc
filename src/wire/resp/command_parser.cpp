#include "wire/resp/command_parser.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/ascii.h"
#include "base/hex.h"
#include "wire/resp/integer_text.h"
#include "wire/take.h"

namespace weir::wire::resp {
namespace {

// An HTTP request that a web page makes a browser send contains one of these lines.
bool is_cross_protocol(std::string_view command) noexcept {
  return base::equals_name(command, "post") ||
         (command.ends_with(':') && base::equals_name(command.substr(0, command.size() - 1), "host"));
}

constexpr bool is_white(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Redis skips \v and \f between words but accepts them within a word.
constexpr bool ends_word(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

constexpr char unescaped(char c) noexcept {
  constexpr std::string_view letters = "nrtba";
  constexpr std::string_view meanings = "\n\r\t\b\a";
  const std::size_t at = letters.find(c);
  return at == std::string_view::npos ? c : meanings[at];
}

// Takes the rest of an escape whose backslash is already taken. `rest` must not be empty.
char take_escaped(std::string_view& rest) noexcept {
  if (rest.size() >= 3 && rest[0] == 'x') {
    if (const int byte = base::hex_byte(rest[1], rest[2]); byte >= 0) {
      rest.remove_prefix(3);
      return static_cast<char>(byte);
    }
  }
  const char c = unescaped(rest.front());
  rest.remove_prefix(1);
  return c;
}

// Takes the text after the opening quote, and the closing quote. Returns false if the closing quote is missing or does
// not end the word.
bool take_quoted(std::string_view& rest, char quote, std::string& text) {
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == quote) return rest.empty() || is_white(rest.front());
    if (c == '\\' && quote == '"' && !rest.empty()) {
      text += take_escaped(rest);
    } else if (c == '\\' && quote == '\'' && take(rest, '\'')) {
      text += '\'';
    } else {
      text += c;
    }
  }
  return false;
}

// Splits an inline command by the quoting rules of Redis.
//
//   SET key "a\tb\x00"    double quotes: \n \r \t \b \a, \xHH, and any other byte after \ as itself
//   SET key 'it\'s'       single quotes: \' only
//
// A closing quote ends the word: whitespace must follow. A quote may begin within a word. Unlike in Redis, NUL is an
// ordinary byte.
//
// `line` has no line end. `words` is replaced by views of `line` or, for quoted words, of `unquoted`. Returns false if
// a quote is not closed or does not end its word; `words` is then unspecified.
bool split_inline_command(std::string_view line, std::string& unquoted, std::vector<std::string_view>& words) {
  words.clear();
  unquoted.clear();
  unquoted.reserve(line.size());  // prevents reallocation, which would invalidate views
  std::string_view rest = line;
  for (;;) {
    take_while(rest, is_white);
    if (rest.empty()) return true;
    const auto is_plain = [](char c) { return !ends_word(c) && c != '"' && c != '\''; };
    const std::string_view plain = take_while(rest, is_plain);
    if (rest.empty() || ends_word(rest.front())) {
      words.push_back(plain);
      continue;
    }
    const std::size_t begin = unquoted.size();
    unquoted += plain;
    const char quote = rest.front();
    rest.remove_prefix(1);
    if (!take_quoted(rest, quote, unquoted)) return false;
    words.push_back(std::string_view(unquoted).substr(begin));
  }
}

using Word = std::uint64_t;

Word word_at(const char* bytes) noexcept {
  Word word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Masks for the last n bytes of a word in memory, independent of byte order.
constexpr auto masks_of_last = [] {
  std::array<Word, sizeof(Word) + 1> masks{};
  for (std::size_t size = 0; size <= sizeof(Word); ++size) {
    std::array<std::uint8_t, sizeof(Word)> bytes{};
    for (std::size_t i = sizeof(Word) - size; i < sizeof(Word); ++i) bytes[i] = 0xff;
    masks[size] = std::bit_cast<Word>(bytes);
  }
  return masks;
}();

}  // namespace

void CommandParser::set_peer(Peer peer) noexcept {
  previous_count_ = 0;  // the previous command passed other limits
  peer_ = peer;
  max_bulk_length_ =
      peer == Peer::unauthenticated ? std::min(limits_.bulk_length, unauthenticated_bulk_length) : limits_.bulk_length;
}

CommandParser::Step CommandParser::next(std::string_view unread) {
  if (refused_ != Status::need_more) return {refused_, 0};
  if (previous_count_ > 0) {
    if (unread.empty()) return {Status::need_more, 0};
    if (take_like_previous(unread)) return {Status::command, previous_size_};
    previous_count_ = 0;
  }
  for (std::size_t skipped = 0;;) {
    if (expected_ == 0) arguments_.clear();
    unquoted_.clear();
    if (unread.empty()) return {Status::need_more, skipped};
    const Step step = take_command(unread);
    const std::size_t consumed = skipped + step.consumed;
    if (step.status != Status::command) return {step.status, consumed};
    if (!arguments_.empty()) {
      if (!is_cross_protocol(arguments_.front())) {
        remember(unread.substr(0, step.consumed));
        return {Status::command, consumed};
      }
      refused_ = Status::cross_protocol;
      return {refused_, consumed};
    }
    skipped = consumed;
    unread.remove_prefix(step.consumed);
  }
}

// The lengths are those of the previous command; only the addresses of the arguments change.
inline bool CommandParser::take_like_previous(std::string_view unread) noexcept {
  if (unread.size() < previous_size_) return false;
  const char* const bytes = unread.data();
  Word differs = word_at(bytes) ^ previous_first_;
  for (std::size_t i = 0; i < previous_count_; ++i) {
    const ArgumentPosition& position = previous_[i];
    differs |= (word_at(bytes + position.begin - sizeof(Word)) ^ position.before) & position.mask;
    arguments_[i] = {bytes + position.begin, arguments_[i].size()};
  }
  const bool ends = bytes[previous_size_ - 2] == '\r' && bytes[previous_size_ - 1] == '\n';
  return differs == 0 && ends && !is_cross_protocol(arguments_.front());
}

// The bytes before the first argument take two words, which may overlap; those between others take one.
inline void CommandParser::remember(std::string_view command) noexcept {
  if (command.front() != '*' || arguments_.size() > max_previous) return;
  std::size_t end = 0;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    const auto begin = static_cast<std::size_t>(arguments_[i].data() - command.data());
    const std::size_t size = std::min(begin - end, i == 0 ? 2 * sizeof(Word) : sizeof(Word));
    if (begin - end > size) return;
    previous_[i] = {begin, word_at(command.data() + begin - sizeof(Word)), masks_of_last[std::min(size, sizeof(Word))]};
    end = begin + arguments_[i].size();
  }
  previous_first_ = word_at(command.data());
  previous_size_ = command.size();
  previous_count_ = arguments_.size();
}

CommandParser::Step CommandParser::take_command(std::string_view unread) {
  return unread.front() == '*' ? take_array(unread) : take_inline(unread);
}

CommandParser::Step CommandParser::take_inline(std::string_view unread) {
  const std::size_t end = unread.find('\n', searched_);
  if (std::min(end, unread.size()) > limits_.inline_length) return refuse("too big inline request");
  if (end == std::string_view::npos) {
    searched_ = unread.size();
    return {Status::need_more, 0};
  }
  searched_ = 0;
  std::string_view line = unread.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!split_inline_command(line, unquoted_, arguments_)) return refuse("unbalanced quotes in request");
  if (arguments_.size() > limits_.arguments) return refuse("too big inline request");
  return {Status::command, end + 1};
}

CommandParser::Step CommandParser::take_array(std::string_view unread) {
  std::size_t at = 0;
  if (expected_ == 0) {
    const Count count = read_count(unread, 0);
    if (count.state == Count::State::partial) return {Status::need_more, 0};
    if (!accept_count(count)) return {refused_, 0};
    searched_ = 0;
    if (count.value <= 0) return {Status::command, count.end};
    expected_ = static_cast<std::size_t>(count.value);
    begins_.clear();
    at = count.end;
  } else {
    resume(unread);
    at = offset_;
  }

  for (std::size_t missing = expected_ - arguments_.size(); missing > 0; --missing) {
    if (at == unread.size()) return pause(unread, at);
    if (unread[at] != '$') return refuse(std::string("expected '$', got '") + unread[at] + '\'');
    const Count count = read_count(unread, at);
    if (count.state == Count::State::partial) return pause(unread, at);
    const auto length = static_cast<std::size_t>(count.value);  // a negative count becomes too large
    const std::size_t end = count.end + length;
    if (count.state != Count::State::whole || length > max_bulk_length_ ||
        end + line_end.size() > limits_.command_length) [[unlikely]]
      return refuse_bulk(count);
    if (unread.size() < end + line_end.size()) return pause(unread, at);
    if (unread[end] != '\r' || unread[end + 1] != '\n') return refuse("invalid bulk length");
    arguments_.emplace_back(unread.data() + count.end, length);
    at = end + line_end.size();
  }
  expected_ = 0;
  searched_ = 0;
  return {Status::command, at};
}

// The fast path for a complete count of one or two digits.
inline CommandParser::Count CommandParser::read_count(std::string_view unread, std::size_t line) noexcept {
  if (unread.size() - line >= 5) {
    const char* const digits = unread.data() + line + 1;
    if (base::is_digit(digits[0])) {
      const std::int64_t first = digits[0] - '0';
      if (digits[1] == '\r' && digits[2] == '\n') return {Count::State::whole, first, line + 4};
      if (first != 0 && base::is_digit(digits[1]) && digits[2] == '\r' && digits[3] == '\n') {
        return {Count::State::whole, first * 10 + (digits[1] - '0'), line + 5};
      }
    }
  }
  return search_count(unread, line);
}

CommandParser::Count CommandParser::search_count(std::string_view unread, std::size_t line) noexcept {
  const std::size_t end = unread.find('\r', std::max(line + 1, searched_));
  if (std::min(end, unread.size()) - line > limits_.inline_length) return {Count::State::too_long, 0, 0};
  searched_ = std::min(end, unread.size());
  if (searched_ + line_end.size() > unread.size()) return {Count::State::partial, 0, 0};
  const auto value = parse_integer(unread.substr(line + 1, end - line - 1));
  if (!value || unread[end + 1] != '\n') return {Count::State::malformed, 0, 0};
  return {Count::State::whole, *value, end + line_end.size()};
}

bool CommandParser::accept_count(const Count& count) {
  if (count.state == Count::State::too_long) {
    refuse("too big mbulk count string");
  } else if (count.state == Count::State::malformed ||
             (count.value > 0 && static_cast<std::uint64_t>(count.value) > limits_.arguments)) {
    refuse("invalid multibulk length");
  } else if (peer_ == Peer::unauthenticated && count.value > static_cast<std::int64_t>(unauthenticated_arguments)) {
    refuse("unauthenticated multibulk length");
  }
  return refused_ == Status::need_more;
}

CommandParser::Step CommandParser::refuse_bulk(const Count& count) {
  if (count.state == Count::State::too_long) return refuse("too big bulk count string");
  const auto length = static_cast<std::size_t>(count.value);
  const bool fits = count.state == Count::State::whole && length <= limits_.bulk_length &&
                    count.end + length + line_end.size() <= limits_.command_length;
  return refuse(fits ? "unauthenticated bulk length" : "invalid bulk length");
}

CommandParser::Step CommandParser::pause(std::string_view unread, std::size_t offset) {
  while (begins_.size() < arguments_.size()) {
    begins_.push_back(static_cast<std::size_t>(arguments_[begins_.size()].data() - unread.data()));
  }
  offset_ = offset;
  seen_at_ = unread.data();
  return {Status::need_more, 0};
}

void CommandParser::resume(std::string_view unread) {
  if (unread.data() == seen_at_) return;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    arguments_[i] = {unread.data() + begins_[i], arguments_[i].size()};
  }
}

CommandParser::Step CommandParser::refuse(std::string_view problem) {
  error_ = "ERR Protocol error: ";
  error_ += problem;
  refused_ = Status::protocol_error;
  return {refused_, 0};
}

}  // namespace weir::wire::resp
