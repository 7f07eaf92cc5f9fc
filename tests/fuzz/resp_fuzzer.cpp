// Feeds both parsers of the Redis protocol with any bytes: the result does not depend on splitting, is within the
// limits, and round-trips.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tests/wire/resp_stream.h"
#include "wire/resp/throttle.h"
#include "wire/resp/writer.h"

namespace {

using namespace weir::wire::resp;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_commands(std::string_view bytes, CommandLimits limits, Peer peer) {
  const Conversation heard = read_commands(bytes, whole, CommandParser(limits, peer));
  require(read_commands(bytes, byte_by_byte, CommandParser(limits, peer)) == heard);
  require(heard.status != CommandParser::Status::command);
  require(heard.error.empty() == (heard.status != CommandParser::Status::protocol_error));
  std::string again;
  for (const auto& command : heard.commands) {
    require(!command.empty() && command.size() <= limits.arguments);
    std::size_t length = 0;
    for (const std::string& argument : command) length += argument.size();
    require(length <= limits.command_length || length <= limits.inline_length);
    const std::vector<std::string_view> views(command.begin(), command.end());
    append_command(again, views);
    if (const auto throttle = parse_throttle(views)) {
      require(throttle->numbers.burst > 0 && throttle->numbers.rate.count > 0);
      require(throttle->numbers.rate.per > weir::Duration::zero());
    }
  }
  const CommandLimits none{.arguments = SIZE_MAX, .bulk_length = 1U << 30, .command_length = 1U << 30};
  require(read_commands(again, whole, CommandParser(none)) == Conversation{heard.commands});
}

void check_replies(std::string_view bytes, ReplyLimits limits) {
  const Answers answers = read_replies(bytes, whole, limits);
  require(read_replies(bytes, byte_by_byte, limits) == answers);
  require(answers.status != ReplyParser::Status::reply);
  require(answers.problem.empty() == (answers.status != ReplyParser::Status::refused));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;  // the cost is quadratic
  const std::string input(data, data + size);
  check_commands(input, {}, Peer::authenticated);
  check_commands(input, {.arguments = 3, .bulk_length = 8, .inline_length = 24, .command_length = 48},
                 Peer::unauthenticated);
  check_replies(input, {});
  check_replies(input, {.depth = 2, .elements = 6, .length = 64});
  return 0;
}
