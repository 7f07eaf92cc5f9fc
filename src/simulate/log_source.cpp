#include "simulate/log_source.h"

#include <cstring>
#include <utility>

namespace weir::simulate {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 20;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

static_assert(block_size > 2 * LogSource::longest_line, "a line and what follows it fit into a block");

}  // namespace

LogSource::LogSource(ByteInput input) : input_(std::move(input)), block_(block_size) {}

Result<LogSource> LogSource::open(const std::string& path) {
  auto input = ByteInput::open(path);
  if (!input) return tl::unexpected(input.error());
  return LogSource(std::move(*input));
}

std::optional<std::string_view> LogSource::next() {
  while (true) {
    const char* const begin = block_.data() + begin_;
    const void* const found = std::memchr(begin, '\n', end_ - begin_);
    if (found == nullptr) {
      if (refill()) continue;
      return last_line();
    }
    std::string_view line(begin, static_cast<std::size_t>(static_cast<const char*>(found) - begin));
    begin_ += line.size() + 1;
    ++line_number_;
    if (std::exchange(skipping_, false)) continue;
    if (accept(line)) return line;
  }
}

// Moves the beginning of a line to the front of the block and reads on behind it. False at the end.
bool LogSource::refill() {
  if (ended_) return false;
  if (end_ - begin_ > longest_line + 1) {  // one more, for a CR
    if (!std::exchange(skipping_, true)) ++overlong_lines_;
  }
  if (skipping_) begin_ = end_;
  std::memmove(block_.data(), block_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);

  auto count = input_.read({block_.data() + end_, block_.size() - end_});
  if (!count) error_ = std::move(count.error());
  ended_ = !count || *count == 0;
  if (count) end_ += *count;
  return !ended_;
}

// What stands after the last line break, unless an error cut it off.
std::optional<std::string_view> LogSource::last_line() {
  std::string_view line(block_.data() + begin_, end_ - begin_);
  begin_ = end_;
  if (line.empty() || skipping_ || error_) return {};
  ++line_number_;
  if (!accept(line)) return {};
  return line;
}

// Takes off what does not belong to a line's text. False if the line is passed over.
bool LogSource::accept(std::string_view& line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line_number_ == 1 && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  if (line.size() <= longest_line) return !line.empty();
  ++overlong_lines_;
  return false;
}

}  // namespace weir::simulate
