// The measurements of a contender. The programs in governor/ and go_rate/ perform the same
// steps in the same order.
#pragma once

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "table/block_clock.h"
#include "table/contender.h"
#include "table/keys.h"
#include "table/resources.h"

namespace bench::table {

struct Filled {
  double worst_bytes_per_key = 0;  // of all samples from a million keys on
  double bytes_per_key = 0;        // with all keys inserted
};

struct Ran {
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds cpu{};  // of all threads
  std::size_t admitted = 0;
};

template <Contender T>
std::size_t decide_all(T& contender, std::span<const std::uint32_t> numbers) {
  KeyBlock block;
  std::size_t admitted = 0;
  for (std::size_t i = 0; i + block_length <= numbers.size(); i += block_length) {
    BlockClock::refresh();
    block.load(numbers.subspan(i).first<block_length>());
    admitted += contender.decide(block);
  }
  return admitted;
}

// Charges keys 0 to `keys` once each. `resident_before` is from before the contender was made.
template <Contender T>
Filled fill(T& contender, std::uint32_t keys, std::int64_t resident_before) {
  constexpr std::uint32_t first_sample = 1'000'000;
  constexpr std::uint32_t keys_per_sample = 512 * block_length;
  Filled filled;
  std::array<std::uint32_t, block_length> numbers{};
  for (std::uint32_t done = 0; done < keys;) {
    for (std::uint32_t& number : numbers) number = done++;
    decide_all(contender, numbers);
    if (done < first_sample || (done % keys_per_sample != 0 && done != keys)) continue;
    filled.bytes_per_key = static_cast<double>(resident_bytes() - resident_before) / done;
    filled.worst_bytes_per_key = std::max(filled.worst_bytes_per_key, filled.bytes_per_key);
  }
  return filled;
}

// Charges every `stride`-th of the keys until it is denied.
template <Contender T>
void exhaust(T& contender, std::uint32_t keys, std::uint32_t stride) {
  std::array<char, key_length> key{};
  BlockClock::refresh();
  for (std::uint32_t number = 0; number < keys; number += stride) {
    write_key(number, key.data());
    while (contender.decide(std::string_view(key.data(), key.size()))) {
    }
  }
}

// Decides for `numbers`, each thread for its part. Wall time is from the first thread's start to the last
// one's end as measured by the threads, because the waiting thread may not get a core.
template <Contender T>
Ran run(T& contender, std::span<const std::uint32_t> numbers, std::size_t threads) {
  using Clock = std::chrono::steady_clock;
  struct Part {
    Clock::time_point start;
    Clock::time_point end;
    std::size_t admitted = 0;
  };
  std::vector<Part> parts(threads);
  std::barrier ready(static_cast<std::ptrdiff_t>(threads));
  const auto work = [&](std::size_t i) {
    const std::size_t length = numbers.size() / threads;
    ready.arrive_and_wait();
    parts[i].start = Clock::now();
    parts[i].admitted = decide_all(contender, numbers.subspan(i * length, length));
    parts[i].end = Clock::now();
  };
  const std::chrono::nanoseconds cpu_before = process_cpu_time();
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work, i);
    work(0);
  }
  const std::chrono::nanoseconds cpu = process_cpu_time() - cpu_before;
  Part all = parts[0];
  for (const Part& part : std::span(parts).subspan(1)) {
    all = {std::min(all.start, part.start), std::max(all.end, part.end), all.admitted + part.admitted};
  }
  return {all.end - all.start, cpu, all.admitted};
}

// Charges keys 0 to `keys` once each, one by one, and returns the maximum time of one, as CPU time
// of this thread.
template <Contender T>
std::chrono::nanoseconds grow(T& contender, std::uint32_t keys) {
  std::array<char, key_length> key{};
  std::chrono::nanoseconds longest{};
  for (std::uint32_t number = 0; number < keys; ++number) {
    if (number % block_length == 0) BlockClock::refresh();
    write_key(number, key.data());
    const auto before = thread_cpu_time();
    contender.decide(std::string_view(key.data(), key.size()));
    longest = std::max(longest, thread_cpu_time() - before);
  }
  return longest;
}

}  // namespace bench::table
