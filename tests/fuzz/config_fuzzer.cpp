// Parses any text as weir.yaml: it is rejected with a position in the text, or it is a configuration within its bounds
// in which no listener is open to other hosts by accident.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "server/config.h"

namespace {

using namespace weir::server;
using namespace std::chrono_literals;
using weir::text::Problem;
using weir::text::Severity;

constexpr std::size_t longest = 64 << 10;
constexpr std::size_t max_message_size = 4096;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

void check(const Problem& problem, std::ptrdiff_t lines) {
  require(problem.at.line >= 1 && problem.at.line <= lines, "a problem is in a line of the text");
  require(problem.at.column >= 1, "a problem is in a column");
  require(!problem.message.empty() && problem.message.size() <= max_message_size, "a message is not too long");
  require(std::none_of(problem.message.begin(), problem.message.end(), is_control), "a message is one line");
}

void check(const ListenerConfig& listener) {
  const bool guarded = (listener.tls && !listener.tls->client_ca.empty()) || listener.token_file || listener.exposed;
  require(!listener.listen.empty(), "a listener listens");
  for (const weir::net::Address& address : listener.listen) {
    require(address.local() || guarded, "a listener that others can reach is guarded, or declared to be open");
    require(!address.unix_socket() || !listener.tls, "a unix socket has no TLS");
  }
  require(listener.max_connections >= 1 && listener.max_connections <= 1'000'000, "connections are bounded");
  require(listener.unix_mode <= 0777, "a mode is of permissions only");
}

void check(const Config& config) {
  const auto is_on = [](const Listener& listener) { return listener.config.has_value(); };
  require(std::any_of(config.listeners.begin(), config.listeners.end(), is_on), "a listener is on");
  for (const Listener& listener : config.listeners) {
    if (listener.config) check(*listener.config);
  }
  const ListenerConfig* http = config.listener("http");
  require(http == nullptr || (http->max_body >= 1024 && http->max_delay >= 0s), "the HTTP listener has bounds");
  require(config.state.memory >= std::size_t{1} << 20, "there is memory");
  require(!config.state.snapshot_every || *config.state.snapshot_every >= 1s, "snapshots leave time for the rest");
  require(!config.loops || *config.loops >= 1, "there is a loop");
  require(config.drain >= 0s && config.fields.retry_jitter >= 0s, "no time is negative");
  if (config.log.denials) {
    const Share sample = config.log.denials->sample;
    require(sample.part >= 1 && sample.part <= sample.whole, "a share is above 0 and at most 1");
  }
  if (const auto& redis = config.store.redis) {
    require(!redis->urls.empty() && redis->urls.size() <= 100, "there is a server");
    require(redis->timeout >= 1ms && redis->timeout <= 10s, "a decision may take some time, but not any");
    require(redis->tls.certificate.has_value() == redis->tls.key.has_value(), "a certificate has its key");
    require(redis->prefix.find_first_of("{}") == std::string::npos, "a prefix chooses no slot");
  }
  require(describe(config).size() == 12, "a line for each subject");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > longest) return 0;
  const std::string text(data, data + size);
  const LoadedConfig loaded = load_config_text(text, "/etc/weir/weir.yaml", {"/var/lib/weir", "", ""});
  const bool any_error = std::any_of(loaded.problems.begin(), loaded.problems.end(),
                                     [](const Problem& problem) { return problem.severity == Severity::error; });
  require(any_error == !loaded.config.has_value(), "a file is refused if and only if there is an error");
  for (const Problem& problem : loaded.problems) check(problem, std::count(text.begin(), text.end(), '\n') + 1);
  if (loaded.config) check(*loaded.config);
  return 0;
}
