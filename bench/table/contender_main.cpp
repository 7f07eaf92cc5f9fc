// table_contender NAME SEQUENCE KEYS BURST: runs one contender in its own process.
//
// Reads one command per line from standard input and answers each with one line:
//   fill                     worst and final bytes per key
//   exhaust STRIDE           "done"
//   run FIRST COUNT THREADS  nanoseconds of wall and of CPU time, and number admitted
//   grow                     the longest single insert in nanoseconds, from empty to KEYS
// table/compare.py sends the commands. All contenders run in parallel, but only one works at a time.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

#include "table/baseline_contenders.h"
#include "table/key_sequence.h"
#include "table/measure.h"
#include "table/weir_contenders.h"

namespace bench::table {
namespace {

struct Assignment {
  std::span<const std::uint32_t> sequence;
  std::uint32_t keys = 0;
  Quota quota;
};

template <Contender T>
int serve(const Assignment& assignment) {
  const std::int64_t resident_before = resident_bytes();
  T contender(assignment.quota);
  std::string order;
  while (std::cin >> order) {
    if (order == "fill") {
      const Filled filled = fill(contender, assignment.keys, resident_before);
      std::cout << filled.worst_bytes_per_key << ' ' << filled.bytes_per_key << std::endl;
    } else if (order == "exhaust") {
      std::uint32_t stride = 0;
      std::cin >> stride;
      exhaust(contender, assignment.keys, stride);
      std::cout << "done" << std::endl;
    } else if (order == "run") {
      std::size_t first = 0;
      std::size_t count = 0;
      std::size_t threads = 0;
      std::cin >> first >> count >> threads;
      const Ran ran = run(contender, assignment.sequence.subspan(first, count), threads);
      std::cout << ran.wall.count() << ' ' << ran.cpu.count() << ' ' << ran.admitted << std::endl;
    } else if (order == "grow") {
      std::cout << grow(contender, assignment.keys).count() << std::endl;
    } else {
      std::cerr << order << ": not an order\n";
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}

int serve(std::string_view name, const Assignment& assignment) {
  if (name == "weir") return serve<WeirSingle>(assignment);
  if (name == "weir-batch") return serve<WeirBatch>(assignment);
  if (name == "weir-check") return serve<WeirCheckSingle>(assignment);
  if (name == "weir-check-batch") return serve<WeirCheckBatch>(assignment);
  if (name == "absl") return serve<AbslStriped>(assignment);
  if (name == "unordered_map") return serve<StdMutex>(assignment);
  std::cerr << name << ": no such contender\n";
  return EXIT_FAILURE;
}

}  // namespace
}  // namespace bench::table

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: table_contender NAME SEQUENCE KEYS BURST\n";
    return EXIT_FAILURE;
  }
  const auto sequence = bench::table::read_key_sequence(argv[2]);
  if (!sequence) {
    std::cerr << sequence.error().message() << '\n';
    return EXIT_FAILURE;
  }
  const auto keys = static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10));
  const bench::table::Quota quota{std::strtoull(argv[4], nullptr, 10)};
  return bench::table::serve(argv[1], {*sequence, keys, quota});
}
