// Reads any bytes as a snapshot: as a file, and as the content of well-formed blocks, so that the checksums do not
// hide the code after them. An accepted snapshot must be a table that decides within its limit.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "core/rule.h"
#include "table/block_file.h"
#include "table/snapshot.h"

namespace {

using namespace std::chrono_literals;
using weir::Limit;

constexpr weir::Instant now{std::chrono::microseconds{1'790'000'000'000'000}};
constexpr std::size_t budget = std::size_t{1} << 20;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

const std::vector<Limit>& limits() {
  static const std::vector<Limit> all = {
      *Limit::token_bucket({.rate = {100, 1min}, .burst = 20}),
      *Limit::gcra({.rate = {10'007, 1h}, .burst = 13}),
      *Limit::leaky_bucket(weir::BucketNumbers{.rate = {3, 1s}, .burst = 4}),
      *Limit::leaky_bucket(weir::QueueNumbers{.rate = {10, 1s}, .queue = 6}),
      *Limit::fixed_window({.limit = 9, .window = 10s}),
      *Limit::sliding_window_log({.limit = 9, .window = 10s}),
      *Limit::sliding_window_counter({.limit = 9, .window = 10s}),
  };
  return all;
}

std::filesystem::path file() {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("weir-snapshot-fuzzer-" + std::to_string(std::rand()));
  return path;
}

void restore_and_use(const Limit& limit) {
  const weir::core::Rule rule = weir::core::compile(limit);
  const auto table = weir::table::restore(file(), rule, budget, now);
  if (!table) {
    require(!table.error().what.empty(), "a refusal says what is wrong");
    return;
  }
  for (int key = 0; key < 8; ++key) {
    const auto decision = (*table)->decide(rule, {.key = {static_cast<std::uint64_t>(key) << 61}}, now);
    require(decision.remaining <= decision.limit, "no more is left than the limit");
  }
  require((*table)->bytes_used() <= budget + (std::size_t{2} << 20), "memory is bounded");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Limit& limit = limits()[data[0] % limits().size()];
  if (FILE* out = std::fopen(file().c_str(), "wb")) {
    std::fwrite(data, 1, size, out);
    std::fclose(out);
    restore_and_use(limit);
  }
  auto blocks = weir::table::BlockWriter::create(file());
  if (!blocks) return 0;
  for (std::size_t i = 1; i < size; ++i) blocks->put(data[i]);
  require(blocks->commit().has_value(), "the blocks can be written");
  restore_and_use(limit);
  std::filesystem::remove(file());
  return 0;
}
