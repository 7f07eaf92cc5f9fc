// Writes replies and commands of the Redis protocol to the caller's buffer. Cheap to construct; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace weir::wire::resp {

enum class Protocol : std::uint8_t { resp2 = 2, resp3 = 3 };

// Writes replies in the protocol version that the client chose with HELLO. Types that RESP2 lacks are written as Redis
// does: a map as a flat array, a double as a string, and so on.
//
// An aggregate is a header followed by its elements; the caller must write exactly the announced number.
class ReplyWriter {
 public:
  explicit ReplyWriter(std::string& out, Protocol protocol = Protocol::resp2) noexcept
      : out_(out), protocol_(protocol) {}

  // The buffer, for code that writes replies itself.
  [[nodiscard]] std::string& out() noexcept { return out_; }

  // Applies from the next reply on.
  void set_protocol(Protocol protocol) noexcept { protocol_ = protocol; }

  // simple_string() and error() replace CR and LF with spaces, because they would end the line.
  void simple_string(std::string_view text) { line('+', text); }
  // Begins with an error code: `ERR syntax error`, `NOAUTH ...`.
  void error(std::string_view text) { line('-', text); }

  void integer(std::int64_t number) { numbered(':', number); }
  void bulk(std::string_view bytes);
  void verbatim(std::string_view text);  // plain text
  void real(double number);
  void boolean(bool value);

  void null() { out_ += protocol_ == Protocol::resp3 ? "_\r\n" : "$-1\r\n"; }
  void null_array() { out_ += protocol_ == Protocol::resp3 ? "_\r\n" : "*-1\r\n"; }

  void array(std::size_t elements) { header('*', elements); }
  void map(std::size_t pairs);  // then key, value, key, value, ...
  void set(std::size_t elements) { header(protocol_ == Protocol::resp3 ? '~' : '*', elements); }

 private:
  void line(char sigil, std::string_view text);
  void numbered(char sigil, std::int64_t number);
  void header(char sigil, std::size_t count) { numbered(sigil, static_cast<std::int64_t>(count)); }

  std::string& out_;
  Protocol protocol_;
};

// Writes a command, an array of bulk strings. The name counts as an argument. The caller must write exactly the
// announced number of arguments.
//
//   append_command(out, {"AUTH", user, password});
//
//   CommandWriter command(out, 4);                  // for numbers, or for many arguments
//   command.argument("EVALSHA");
//   ...
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
