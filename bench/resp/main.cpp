// The cost of the Redis protocol per command, without the decision: pipelines of 64, parsed and answered.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/resp/command_parser.h"
#include "wire/resp/reply_parser.h"
#include "wire/resp/throttle.h"
#include "wire/resp/writer.h"

namespace {

using namespace weir::wire::resp;

constexpr int pipeline_length = 64;

void count(benchmark::State& measured) {
  measured.SetItemsProcessed(measured.iterations() * pipeline_length);
}

std::string pipeline_of_throttles() {
  std::string bytes;
  for (int i = 0; i < pipeline_length; ++i) {
    append_command(bytes, {"CL.THROTTLE", "user:" + std::to_string(100'000'000 + i * 7'919'317), "15", "30", "60"});
  }
  return bytes;
}

std::string pipeline_of_replies() {
  std::string bytes;
  for (int i = 0; i < pipeline_length; ++i) append_throttle_reply(bytes, {0, 16, 15 - i % 16, -1, i % 32});
  return bytes;
}

// The lower bound: the cost of reading every byte once.
void copy_bytes(benchmark::State& measured) {
  const std::string bytes = pipeline_of_throttles();
  std::string copy;
  while (measured.KeepRunning()) {
    copy = bytes;
    benchmark::DoNotOptimize(copy.data());
    benchmark::ClobberMemory();
  }
  count(measured);
}

void parse(benchmark::State& measured) {
  const std::string bytes = pipeline_of_throttles();
  CommandParser parser;
  while (measured.KeepRunning()) {
    std::string_view unread = bytes;
    for (int i = 0; i < pipeline_length; ++i) {
      unread.remove_prefix(parser.next(unread).consumed);
      benchmark::DoNotOptimize(parser.arguments().data());
    }
    if (!unread.empty()) measured.SkipWithError("not all was parsed");
  }
  count(measured);
}

// The overhead of the listener over a decision: the command, its numbers, the reply.
void parse_and_reply(benchmark::State& measured) {
  const std::string bytes = pipeline_of_throttles();
  CommandParser parser;
  std::string out;
  weir::Decision decision{.admitted = true, .limit = 16, .remaining = 11, .reset_after = weir::Duration{31'500'000}};
  while (measured.KeepRunning()) {
    std::string_view unread = bytes;
    out.clear();
    for (int i = 0; i < pipeline_length; ++i) {
      unread.remove_prefix(parser.next(unread).consumed);
      const auto arguments = parse_throttle(parser.arguments());
      if (!arguments) measured.SkipWithError("refused");
      benchmark::DoNotOptimize(arguments->numbers.burst);
      benchmark::DoNotOptimize(decision);
      append_throttle_reply(out, throttle_reply(decision));
    }
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count(measured);
}

void write_commands(benchmark::State& measured) {
  std::string out;
  while (measured.KeepRunning()) {
    out.clear();
    for (std::int64_t i = 0; i < pipeline_length; ++i) {
      CommandWriter command(out, 5);
      command.argument("CL.THROTTLE");
      command.argument("user:1234567890");
      command.argument(15);
      command.argument(30);
      command.argument(i);
    }
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count(measured);
}

void parse_replies(benchmark::State& measured) {
  const std::string bytes = pipeline_of_replies();
  ReplyParser parser;
  while (measured.KeepRunning()) {
    std::string_view unread = bytes;
    for (int i = 0; i < pipeline_length; ++i) {
      unread.remove_prefix(parser.next(unread).consumed);
      auto remaining = parser.reply()[2].integer();
      benchmark::DoNotOptimize(remaining);
    }
    if (!unread.empty()) measured.SkipWithError("not all was parsed");
  }
  count(measured);
}

BENCHMARK(copy_bytes)->Name("resp/copy_bytes");
BENCHMARK(parse)->Name("resp/server/parse");
BENCHMARK(parse_and_reply)->Name("resp/server/parse_and_reply");
BENCHMARK(write_commands)->Name("resp/client/write_command");
BENCHMARK(parse_replies)->Name("resp/client/parse_reply");

}  // namespace

BENCHMARK_MAIN();
