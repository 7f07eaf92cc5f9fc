#include "wire/resp/writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>

#include "wire/resp/integer_text.h"

namespace weir::wire::resp {
namespace {

// Appends a bulk string: its length, its bytes and a line end.
inline void append_bulk(std::string& out, std::string_view bytes) {
  // A short string is assembled in a buffer first, to append once instead of three times.
  std::array<char, 128> room;
  room[0] = '$';
  char* end = write_integer_line(room.data() + 1, static_cast<std::int64_t>(bytes.size()));
  if (bytes.size() > room.size() - max_integer_text_length - 5) {
    out.append(room.data(), end);
    out += bytes;
    out += "\r\n";
    return;
  }
  if (!bytes.empty()) std::memcpy(end, bytes.data(), bytes.size());
  end += bytes.size();
  *end++ = '\r';
  *end++ = '\n';
  out.append(room.data(), end);
}

// Returns the shortest text that parses to the same number.
std::string_view text_of(double number, std::array<char, 32>& room) noexcept {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  const char* const end = std::to_chars(room.data(), room.data() + room.size(), number).ptr;
  return {room.data(), static_cast<std::size_t>(end - room.data())};
}

}  // namespace

void ReplyWriter::bulk(std::string_view bytes) {
  append_bulk(out_, bytes);
}

void ReplyWriter::verbatim(std::string_view text) {
  if (protocol_ == Protocol::resp2) return bulk(text);
  constexpr std::string_view format = "txt:";
  header('=', format.size() + text.size());
  out_ += format;
  out_ += text;
  out_ += "\r\n";
}

void ReplyWriter::real(double number) {
  std::array<char, 32> room;
  const std::string_view text = text_of(number, room);
  if (protocol_ == Protocol::resp2) return bulk(text);
  line(',', text);
}

void ReplyWriter::boolean(bool value) {
  if (protocol_ == Protocol::resp2) return integer(value ? 1 : 0);
  out_ += value ? "#t\r\n" : "#f\r\n";
}

void ReplyWriter::map(std::size_t pairs) {
  if (protocol_ == Protocol::resp2) return header('*', pairs * 2);
  header('%', pairs);
}

void ReplyWriter::line(char sigil, std::string_view text) {
  out_ += sigil;
  const std::size_t begin = out_.size();
  out_ += text;
  const auto ends_line = [](char c) { return c == '\r' || c == '\n'; };
  std::replace_if(std::next(out_.begin(), static_cast<std::ptrdiff_t>(begin)), out_.end(), ends_line, ' ');
  out_ += "\r\n";
}

void ReplyWriter::numbered(char sigil, std::int64_t number) {
  std::array<char, max_integer_text_length + 3> room;
  room[0] = sigil;
  out_.append(room.data(), write_integer_line(room.data() + 1, number));
}

CommandWriter::CommandWriter(std::string& out, std::size_t arguments) : out_(out) {
  std::array<char, max_integer_text_length + 3> room;
  room[0] = '*';
  out.append(room.data(), write_integer_line(room.data() + 1, static_cast<std::int64_t>(arguments)));
}

void CommandWriter::argument(std::string_view bytes) {
  append_bulk(out_, bytes);
}

void CommandWriter::argument(std::int64_t number) {
  std::array<char, max_integer_text_length> room;
  const char* const end = std::to_chars(room.data(), room.data() + room.size(), number).ptr;
  append_bulk(out_, {room.data(), static_cast<std::size_t>(end - room.data())});
}

void append_command(std::string& out, std::span<const std::string_view> arguments) {
  CommandWriter command(out, arguments.size());
  for (const std::string_view argument : arguments) command.argument(argument);
}

void append_command(std::string& out, std::initializer_list<std::string_view> arguments) {
  append_command(out, std::span(arguments.begin(), arguments.size()));
}

}  // namespace weir::wire::resp
