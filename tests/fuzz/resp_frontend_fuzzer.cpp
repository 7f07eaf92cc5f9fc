// Feeds a connection of the Redis listener with any bytes: the replies are complete, at most one per command, and do
// not depend on splitting.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/resp/resp_frontend.h"
#include "policy/load.h"
#include "tests/wire/resp_stream.h"
#include "weir/clock.h"

namespace {

using namespace weir;

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr std::string_view policy_text = R"(version: 1
limits:
  - {name: api, consumer_key: user, algorithm: gcra, rate: 1/s, burst: 3}
)";

struct Server {
  Server() : listener(context, {.limits = {}, .token = {}, .admin_token = frontend::Token("k")}) {}

  ManualClock clock{Instant(std::chrono::sys_days{std::chrono::year{2026} / 1 / 5})};
  std::unique_ptr<engine::Engine> engine = std::move(*engine::Engine::create(
      policy::load_text(policy_text, "policy.yaml").ruleset, {.memory_budget = 1U << 20, .hash_key = {1, 2}}));
  std::unique_ptr<store::ThrottleTable> throttles = std::move(*store::ThrottleTable::create(1U << 20, {3, 4}));
  frontend::LoopContext context{*engine, clock, {}, {.throttle = throttles.get()}};
  frontend::RespFrontend listener;
};

template <class Piece>
std::string heard(std::string_view bytes, Piece piece) {
  Server server;
  const auto session = server.listener.open({}, {});
  std::string answers;
  std::size_t begin = 0;
  for (std::size_t i = 0, end = 0; end < bytes.size(); ++i) {
    end = std::min(bytes.size(), end + piece(i));
    std::vector<char> arrived(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                              bytes.begin() + static_cast<std::ptrdiff_t>(end));
    net::Output out(std::size_t{1} << 30);
    const std::size_t consumed = session->on_input(arrived, out);
    require(consumed <= arrived.size());
    begin += consumed;
    answers += out.bytes();
    if (out.closing()) break;
  }
  return answers;
}

// Connection numbers differ, so they are not compared.
bool asks_for_numbers(std::string_view bytes) {
  std::string lower(bytes);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower.find("hello") != std::string::npos || lower.find("client") != std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 2048) return 0;
  const std::string input(data, data + size);
  const std::string answers = heard(input, wire::resp::whole);
  const auto replies = wire::resp::read_replies(answers, wire::resp::whole);
  require(replies.status == wire::resp::ReplyParser::Status::need_more);  // complete replies, and nothing after them
  const auto commands = wire::resp::read_commands(input, wire::resp::whole);
  require(replies.replies.size() <= commands.commands.size() + 1);
  if (!asks_for_numbers(input)) require(heard(input, wire::resp::byte_by_byte) == answers);
  return 0;
}
