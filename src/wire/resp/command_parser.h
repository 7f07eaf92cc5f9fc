// The server's side of the Redis protocol: bytes to commands, one at a time, whatever the pieces they come in.
//
//   for (;;) {
//     const auto step = parser.next(unread);         // `unread`: what was read and is not consumed yet
//     unread.remove_prefix(step.consumed);
//     if (step.status != Status::command) break;     // need_more: read on; otherwise: see below
//     serve(parser.arguments());
//   }
//
// Invariants:
//  1. What is found depends on the bytes alone, never on how they were cut.
//  2. A command is consumed as a whole or not at all. Until it is, `unread` starts with the same bytes; it may be
//     elsewhere in memory each time.
//  3. A refusal is final: whoever sent it and we no longer agree on where commands begin. The caller answers what
//     came before it, then `error()` (unless cross_protocol), and closes the connection.
//  4. Nothing is allocated per command once the largest has been seen, and no byte is searched twice
//     for the end of its line.
//
// The verdicts and their texts are those of Redis 7, which Redis's clients and tests know, but for these:
//  - Each line must end in CR LF, and so must each argument: where the bytes say otherwise, the sender has
//    miscounted. (Redis skips any two bytes there, and goes on with the rest as the next command.)
//  - `expected '$'` is said at the first wrong byte, not at the end of its line.
//  - NUL is a byte like any other. (Redis finds no end of line behind it and waits for ever.)
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
  std::size_t bulk_length = 65'536;        // of one argument
  std::size_t inline_length = 65'536;      // of an inline command, and of any line with a count
  std::size_t command_length = 1'048'576;  // of all a command's bytes together
};

// A client that has yet to AUTH is held to fewer and shorter arguments than the limits say, as in Redis.
enum class Peer : std::uint8_t { stranger, authenticated };
inline constexpr std::size_t stranger_arguments = 10;
inline constexpr std::size_t stranger_bulk_length = 16'384;

class CommandParser {
 public:
  enum class Status : std::uint8_t {
    command,         // see arguments(): at least one
    need_more,       // no whole command yet
    protocol_error,  // see error()
    cross_protocol,  // a browser was made to send this (POST, Host:): close without an answer
  };

  struct Step {
    Status status;
    std::size_t consumed;  // also when more is needed: empty lines and empty arrays are skipped

    friend bool operator==(const Step&, const Step&) = default;
  };

  explicit CommandParser(CommandLimits limits = {}, Peer peer = Peer::authenticated) noexcept : limits_(limits) {
    set_peer(peer);
  }

  [[nodiscard]] Step next(std::string_view unread);

  // Of the last command. Views of its bytes and of the parser: void once the bytes go or next() is called.
  [[nodiscard]] std::span<const std::string_view> arguments() const noexcept { return arguments_; }

  // Whether they are all views of its bytes, and none of the parser.
  [[nodiscard]] bool in_place() const noexcept { return unquoted_.empty(); }

  // As to be sent: `ERR Protocol error: ...`. May hold any byte, so send it by ReplyWriter::error.
  [[nodiscard]] std::string_view error() const noexcept { return error_; }

  // From the next command on.
  void set_peer(Peer peer) noexcept;

 private:
  // A line with a count, from behind its first byte.
  struct Count {
    enum class State : std::uint8_t { whole, partial, malformed, too_long } state;
    std::int64_t value;
    std::size_t end;  // behind the line's end
  };

  // Where an argument lay, and the eight bytes before it: its length, and the end of the argument before.
  struct Place {
    std::size_t begin;
    std::uint64_t before;
    std::uint64_t mask;  // without the bytes of the argument before
  };

  [[nodiscard]] bool take_alike(std::string_view unread) noexcept;
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
  std::size_t max_bulk_length_ = 0;     // of this peer
  Status refused_ = Status::need_more;  // the last word, once it is a refusal

  // Of the last command, if it was an array of a few short arguments: those of a client are much alike, and where all
  // that stands around the arguments is the same, they are at the same places.
  static constexpr std::size_t max_alike = 8;
  std::array<Place, max_alike> alike_;
  std::size_t alike_count_ = 0;    // 0: it was something else
  std::size_t alike_size_ = 0;     // of the command
  std::uint64_t alike_first_ = 0;  // its first eight bytes

  std::vector<std::string_view> arguments_;
  std::string unquoted_;  // what inline arguments are views of, where they were quoted
  std::string error_;

  // Of an array that is not whole yet, as offsets into it: the bytes may move.
  std::size_t expected_ = 0;              // arguments; 0 until the count is known
  std::size_t offset_ = 0;                // of the first argument that is missing
  std::size_t searched_ = 0;              // no line's end before this
  std::vector<std::size_t> begins_ = {};  // of the arguments that are there
  const char* seen_at_ = nullptr;         // where their views point to; compared, never read
};

}  // namespace weir::wire::resp
