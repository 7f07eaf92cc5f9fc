// Compares every algorithm with its naive model on any limit and trace.
//
//   1 byte   algorithm, in the order of core::AllAlgorithms
//   2        capacity - 1        4   count - 1        5   per - 1, in microseconds
//   7        start time, signed
// and then operations of 9 bytes each:
//   1 byte   bits 0-1: decide, refund, settle up, decide; bit 2: the clock steps back; bit 3: 256 times as far
//   5        step, in microseconds
//   2        cost
//   1        max_wait in sixteenths of `per` plus 1; 0 is unlimited
// All numbers are little-endian.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "tests/core/differential.h"

namespace {

using namespace weir;
using namespace weir::core;

constexpr std::size_t max_operations = 200;  // limits the time that the model takes, which forgets nothing

// Reads numbers from the input; zero at its end.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }

  std::uint64_t number(std::size_t length) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < length && !bytes_.empty(); ++i) {
      number |= std::uint64_t{bytes_.front()} << (8 * i);
      bytes_ = bytes_.subspan(1);
    }
    return number;
  }

  std::int64_t signed_number(std::size_t length) {
    const std::size_t unused = 64 - 8 * length;
    return static_cast<std::int64_t>(number(length) << unused) >> unused;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

Operation next_operation(Bytes& bytes, const Numbers& numbers) {
  using Kind = Operation::Kind;
  const std::uint64_t how = bytes.number(1);
  const std::uint64_t kind = how % 4;
  const auto step = static_cast<std::int64_t>(bytes.number(5)) * ((how & 8) != 0 ? 256 : 1);
  Operation operation{.kind = kind == 1   ? Kind::refund
                              : kind == 2 ? Kind::settle_up
                                          : Kind::decide,
                      .step = Duration{(how & 4) != 0 ? -step : step},
                      .cost = bytes.number(2)};
  const auto sixteenths = static_cast<std::int64_t>(bytes.number(1));
  if (sixteenths > 0) operation.max_wait = numbers.per * (sixteenths - 1) / 16;
  return operation;
}

template <class A>
void run(const Numbers& numbers, Instant start, Bytes bytes) {
  const auto limit = limit_of<A>(numbers);
  if (!limit) {
    if (limit.error().where.empty() || limit.error().what.empty()) std::abort();
    return;
  }
  Differential<A> both(*limit, start);
  for (std::size_t i = 0; i < max_operations && !bytes.empty(); ++i) {
    const auto difference = both.apply(next_operation(bytes, numbers));
    if (!difference) continue;
    std::fprintf(stderr, "operation %zu: %s\n", i + 1, difference->c_str());
    std::abort();
  }
}

template <class... As>
struct Runs {
  static constexpr void (*of[])(const Numbers&, Instant, Bytes) = {&run<As>...};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Runners = AllAlgorithms::Apply<Runs>;
  Bytes bytes({data, size});
  const std::size_t algorithm = bytes.number(1) % std::size(Runners::of);
  Numbers numbers;
  numbers.capacity = bytes.number(2) + 1;
  numbers.count = bytes.number(4) + 1;
  numbers.per = Duration{static_cast<std::int64_t>(bytes.number(5)) + 1};
  const Instant start{Duration{bytes.signed_number(7)}};
  Runners::of[algorithm](numbers, start, bytes);
  return 0;
}
