// table_workload uniform|zipf KEYS COUNT: writes COUNT key numbers below KEYS to standard output, 32-bit,
// little-endian. The output is deterministic.
//
// Zipf ranks go through a random permutation: keys are inserted in the order of their numbers, and
// without it the hottest keys would lie side by side in the memory of the contenders that allocate.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include "table/zipf.h"

namespace {

constexpr std::uint64_t seed = 20'240'229;
constexpr double zipf_exponent = 0.99;

std::vector<std::uint32_t> uniform_numbers(std::uint32_t keys, std::size_t count) {
  std::mt19937_64 generator(seed);
  std::uniform_int_distribution<std::uint32_t> key(0, keys - 1);
  std::vector<std::uint32_t> numbers(count);
  for (std::uint32_t& number : numbers) number = key(generator);
  return numbers;
}

std::vector<std::uint32_t> zipf_numbers(std::uint32_t keys, std::size_t count) {
  std::mt19937_64 generator(seed);
  std::vector<std::uint32_t> number_of_rank(keys);
  std::iota(number_of_rank.begin(), number_of_rank.end(), 0U);
  std::shuffle(number_of_rank.begin(), number_of_rank.end(), generator);

  bench::table::Zipf rank(keys, zipf_exponent);
  std::vector<std::uint32_t> numbers(count);
  for (std::uint32_t& number : numbers) number = number_of_rank[rank(generator) - 1];
  return numbers;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc == 4 ? argv[1] : "";
  if (kind != "uniform" && kind != "zipf") {
    std::fprintf(stderr, "usage: table_workload uniform|zipf KEYS COUNT\n");
    return EXIT_FAILURE;
  }
  const auto keys = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  const std::size_t count = std::strtoull(argv[3], nullptr, 10);
  const auto numbers = kind == "zipf" ? zipf_numbers(keys, count) : uniform_numbers(keys, count);
  return std::fwrite(numbers.data(), sizeof numbers[0], count, stdout) == count ? EXIT_SUCCESS : EXIT_FAILURE;
}
