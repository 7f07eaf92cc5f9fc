// Parses the commands of a client of the Redis protocol, in pieces of any size.
//
//   for (;;) {
//     const auto step = parser.next(unread);         // `unread`: all unconsumed input
//     unread.remove_prefix(step.consumed);
//     if (step.status != Status::command) break;     // need_more: read on; otherwise: see below
//     serve(parser.arguments());
//   }
//
// Invariants:
//  1. The result depends only on the bytes, not on how they were split.
//  2. A command is consumed as a whole or not at all. Until then, `unread` must start with the same bytes,
//     which may move between calls.
//  3. A refusal is final, because the start of the next command is unknown. The caller answers the commands before it,
//     then sends `error()` (unless cross_protocol), and closes the connection.
//  4. Memory is allocated only for a larger command than before, and no byte is searched twice for a line end.
//
// The errors and their texts are those of Redis 7, with these exceptions:
//  - Each line and each argument must end in CR LF. (Redis skips any two bytes after an argument and reads the rest as
//    the next command.)
//  - `expected '$'` is reported at the first wrong byte, not at the end of its line.
//  - NUL is an ordinary byte. (Redis finds no line end after it and waits forever.)
//
// Not thread-safe: one parser per connection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::wire::resp {

struct CommandLimits {
  std::size_t arguments = 1'024;
  std::size_t bulk_length = 65'536;        // maximum length of one argument
  std::size_t inline_length = 65'536;      // maximum length of an inline command or a line with a count
  std::size_t command_length = 1'048'576;  // maximum length of a whole command
};

// As in Redis, a client that has not authenticated gets lower limits.
enum class Peer : std::uint8_t { unauthenticated, authenticated };
inline constexpr std::size_t unauthenticated_arguments = 10;
inline constexpr std::size_t unauthenticated_bulk_length = 16'384;

class CommandParser {
 public:
  enum class Status : std::uint8_t {
    command,  // see arguments(), which is not empty
    need_more,
    protocol_error,  // see error()
    cross_protocol,  // an HTTP request (POST, Host:), sent by a browser: close without an answer
  };

  struct Step {
    Status status;
    std::size_t consumed;  // may be nonzero for need_more: empty lines and arrays are skipped

    friend bool operator==(const Step&, const Step&) = default;
  };

  explicit CommandParser(CommandLimits limits = {}, Peer peer = Peer::authenticated) noexcept : limits_(limits) {
    set_peer(peer);
  }

  [[nodiscard]] Step next(std::string_view unread);

  // The arguments of the last command: views of its bytes and of the parser, valid until the next call of next().
  [[nodiscard]] std::span<const std::string_view> arguments() const noexcept { return arguments_; }

  // True if all arguments are views of the command's bytes.
  [[nodiscard]] bool in_place() const noexcept { return unquoted_.empty(); }

  // `ERR Protocol error: ...`. It may contain any byte, so send it with ReplyWriter::error.
  [[nodiscard]] std::string_view error() const noexcept { return error_; }

  // Applies from the next command on.
  void set_peer(Peer peer) noexcept;

 private:
  // A line with a count, without its first byte.
  struct Count {
    enum class State : std::uint8_t { whole, partial, malformed, too_long } state;
    std::int64_t value;
    std::size_t end;  // after the line end
  };

  // The offset of an argument and the eight bytes before it: its length and the end of the previous argument.
  struct ArgumentPosition {
    std::size_t begin;
    std::uint64_t before;
    std::uint64_t mask;  // excludes the bytes of the previous argument
  };

  [[nodiscard]] bool take_like_previous(std::string_view unread) noexcept;
  void remember(std::string_view command) noexcept;
  Step take_command(std::string_view unread);
  Step take_inline(std::string_view unread);
  Step take_array(std::string_view unread);
  Count read_count(std::string_view unread, std::size_t line) noexcept;
  Count search_count(std::string_view unread, std::size_t line) noexcept;
  bool accept_count(const Count& count);
  Step refuse_bulk(const Count& count);
  Step pause(std::string_view unread, std::size_t offset);
  void resume(std::string_view unread);
  Step refuse(std::string_view problem);

  CommandLimits limits_;
  Peer peer_ = Peer::authenticated;
  std::size_t max_bulk_length_ = 0;     // the limits for this peer
  Status refused_ = Status::need_more;  // the final status after a refusal

  // The layout of the last command, if it was an array of a few short arguments. A client often repeats a command: if
  // the bytes around the arguments are the same, the arguments are at the same positions.
  static constexpr std::size_t max_previous = 8;
  std::array<ArgumentPosition, max_previous> previous_;
  std::size_t previous_count_ = 0;    // 0 for other commands
  std::size_t previous_size_ = 0;     // size of the command
  std::uint64_t previous_first_ = 0;  // its first eight bytes

  std::vector<std::string_view> arguments_;
  std::string unquoted_;  // the texts of quoted inline arguments
  std::string error_;

  // The state of an incomplete array, as offsets because the bytes may move.
  std::size_t expected_ = 0;              // arguments; 0 until the count is known
  std::size_t offset_ = 0;                // offset of the first missing argument
  std::size_t searched_ = 0;              // no line end exists before this offset
  std::vector<std::size_t> begins_ = {};  // offsets of the complete arguments
  const char* seen_at_ = nullptr;         // the bytes of the last call; only compared, never read
};

}  // namespace weir::wire::resp
