// The client's side: appends commands to a buffer of the caller, as arrays of bulk strings.
//
//   append_command(out, {"AUTH", user, password});
//
//   CommandWriter command(out, 4);                  // where numbers are among the arguments, or many
//   command.argument("EVALSHA");
//   ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace weir::wire::resp {

// One command: its name counts as an argument. The number of arguments is the caller's promise; not thread-safe.
class CommandWriter {
 public:
  CommandWriter(std::string& out, std::size_t arguments);

  void argument(std::string_view bytes);
  void argument(std::int64_t number);

 private:
  std::string& out_;
};

void append_command(std::string& out, std::span<const std::string_view> arguments);
void append_command(std::string& out, std::initializer_list<std::string_view> arguments);

}  // namespace weir::wire::resp
