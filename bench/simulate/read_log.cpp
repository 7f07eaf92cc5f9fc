// The cost per line of each step from the file to the replay. The file is in the page cache.
#include <benchmark/benchmark.h>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/access_log.h"
#include "simulate/json_line.h"
#include "simulate/log_reader.h"

namespace {

using namespace weir::simulate;

constexpr std::uint64_t line_count = 500'000;

const std::string& log_text() {
  static const std::string text = [] {
    std::string log;
    bench::simulate::AccessLog generator;
    for (std::uint64_t i = 0; i < line_count; ++i) generator.append_line(log);
    return log;
  }();
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// A temporary log on disk.
const std::string& log_path() {
  static const struct File {
    std::string path = "/tmp/weir-read-log-XXXXXX";
    File() {
      const int number = mkstemp(path.data());
      std::FILE* const file = fdopen(number, "wb");
      std::fwrite(log_text().data(), 1, log_text().size(), file);
      std::fclose(file);
    }
    ~File() { std::remove(path.c_str()); }
  } file;
  return file.path;
}

void count_lines(benchmark::State& measured) {
  measured.SetItemsProcessed(measured.iterations() * static_cast<std::int64_t>(line_count));
  measured.counters["per_line"] = benchmark::Counter(
      static_cast<double>(line_count), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void find_lines(benchmark::State& measured) {
  log_path();
  while (measured.KeepRunning()) {
    auto source = LogSource::open(log_path());
    std::uint64_t bytes = 0;
    while (const auto line = source->next()) bytes += line->size();
    benchmark::DoNotOptimize(bytes);
  }
  count_lines(measured);
}

void parse_combined(benchmark::State& measured) {
  const auto lines = lines_of(log_text());
  while (measured.KeepRunning()) {
    CombinedLines parser;
    for (const std::string_view line : lines) {
      auto entry = parser.parse(line);
      benchmark::DoNotOptimize(entry);
    }
  }
  count_lines(measured);
}

void parse_json(benchmark::State& measured) {
  std::string text;
  CombinedLines parser;
  for (const std::string_view line : lines_of(log_text())) {
    const auto entry = parser.parse(line);
    if (!entry) continue;
    text +=
        R"({"ts":)" + std::to_string(entry->at.time_since_epoch() / std::chrono::seconds{1}) + R"(,"remote_addr":")";
    text +=
        std::string(entry->ip) + R"(","remote_user":")" + std::string(entry->user) + R"(","host":"api.example.org",)";
    text += R"("request_method":")" + std::string(entry->method) + R"(","request_uri":")" + std::string(entry->target);
    text +=
        R"(","status":)" + std::to_string(entry->status) + R"(,"bytes":1234,"duration":0.003,"agent":"okhttp/4.11"})";
    text += '\n';
  }
  const auto lines = lines_of(text);
  while (measured.KeepRunning()) {
    JsonLines json{FieldMap()};
    for (const std::string_view line : lines) {
      auto entry = json.parse(line);
      benchmark::DoNotOptimize(entry);
    }
  }
  count_lines(measured);
}

void read_entries(benchmark::State& measured) {
  log_path();
  while (measured.KeepRunning()) {
    auto reader = LogReader::open(log_path());
    while (const LogEntry* entry = reader->next()) benchmark::DoNotOptimize(entry->at);
  }
  count_lines(measured);
}

void read_in_order(benchmark::State& measured) {
  log_path();
  while (measured.KeepRunning()) {
    auto reader = LogReader::open(log_path());
    LineOrder order;
    const auto replay = [](const LogEntry& entry) { benchmark::DoNotOptimize(entry.at); };
    replay_in_order(*reader, order, replay);
    order.finish();
    drain(order, replay);
  }
  count_lines(measured);
}

BENCHMARK(find_lines)->Name("log/find_lines")->Unit(benchmark::kMillisecond);
BENCHMARK(parse_combined)->Name("log/parse_combined")->Unit(benchmark::kMillisecond);
BENCHMARK(parse_json)->Name("log/parse_json")->Unit(benchmark::kMillisecond);
BENCHMARK(read_entries)->Name("log/find_and_parse")->Unit(benchmark::kMillisecond);
BENCHMARK(read_in_order)->Name("log/find_parse_and_order")->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
