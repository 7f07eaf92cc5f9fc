#include "wire/resp/command_writer.h"

#include <array>
#include <charconv>

#include "wire/resp/bulk_text.h"
#include "wire/resp/integer_text.h"

namespace weir::wire::resp {

CommandWriter::CommandWriter(std::string& out, std::size_t arguments) : out_(out) {
  std::array<char, longest_integer_text + 3> room;
  room[0] = '*';
  out.append(room.data(), write_integer_line(room.data() + 1, static_cast<std::int64_t>(arguments)));
}

void CommandWriter::argument(std::string_view bytes) {
  append_bulk(out_, bytes);
}

void CommandWriter::argument(std::int64_t number) {
  std::array<char, longest_integer_text> room;
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
