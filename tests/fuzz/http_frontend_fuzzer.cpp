// Feeds a connection of the HTTP listener with any bytes: the responses are complete and do not depend on splitting.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/http/http_frontend.h"
#include "policy/load.h"
#include "weir/clock.h"

namespace {

using namespace weir;

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr std::string_view policy_text = R"(version: 1
limits:
  - {name: api, consumer_key: [user, ip], algorithm: sliding_window_log, rate: 2/min}
)";

constexpr std::array<frontend::ReceiptKey, 1> receipt_keys{{{1}}};

struct Server {
  ManualClock clock{Instant(std::chrono::sys_days{std::chrono::year{2026} / 1 / 5})};
  std::unique_ptr<engine::Engine> engine = std::move(*engine::Engine::create(
      policy::load_text(policy_text, "policy.yaml").ruleset, {.memory_budget = 1U << 20, .hash_key = {1, 2}}));
  frontend::Health health;
  frontend::LoopContext context{*engine, clock, {}, {}, receipt_keys};
  frontend::HttpFrontend listener{context, health, {}};
};

// Receipts are unique, so they are not compared.
std::string without_receipts(std::string answers) {
  constexpr std::string_view begin = R"("receipt":")";
  for (std::size_t at = answers.find(begin); at != std::string::npos; at = answers.find(begin, at)) {
    at += begin.size();
    const std::size_t end = std::min(answers.find('"', at), answers.size());
    answers.replace(at, end - at, end - at, 'r');
  }
  return answers;
}

std::string heard(std::string_view bytes, std::size_t piece) {
  Server server;
  net::Peer peer;
  peer.address = "127.0.0.1";
  const auto session = server.listener.open(peer, net::Link());
  std::string answers;
  std::string pending;
  while (!bytes.empty()) {
    const std::string_view came = bytes.substr(0, piece);
    bytes.remove_prefix(came.size());
    pending += came;
    std::vector<char> arrived(pending.begin(), pending.end());
    net::Output out(std::size_t{1} << 30);
    const std::size_t consumed = session->on_input(arrived, out);
    require(consumed <= arrived.size());
    pending.assign(arrived.begin() + static_cast<std::ptrdiff_t>(consumed), arrived.end());
    answers += out.bytes();
    if (out.closing()) break;
  }
  return without_receipts(std::move(answers));
}

// Every response is complete and has its Content-Length.
void require_answers(std::string_view answers) {
  constexpr std::string_view length = "Content-Length: ";
  while (!answers.empty()) {
    require(answers.starts_with("HTTP/1.1 ") && !answers.starts_with("HTTP/1.1 5"));
    const std::size_t end = answers.find("\r\n\r\n");
    require(end != std::string_view::npos);
    const std::size_t found = answers.substr(0, end).find(length);
    const std::size_t size =
        found == std::string_view::npos ? 0 : std::strtoul(answers.data() + found + length.size(), nullptr, 10);
    answers.remove_prefix(end + 4);
    require(size <= answers.size());
    answers.remove_prefix(size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > 4096) return 0;
  const std::string input(data + 1, data + size);
  const bool has_head = input.find("HEAD") != std::string::npos;  // responses to HEAD have no body
  const bool waits = input.find("ontinue") != std::string::npos;  // a client that sends everything does not wait
  const std::string answers = heard(input, input.size());
  if (!has_head) require_answers(answers);
  if (!waits) require(heard(input, 1 + data[0] % 97) == answers);
  return 0;
}
