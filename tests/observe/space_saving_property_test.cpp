// The counts of the sketch are within its errors, and no frequent key is missing.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "observe/top_denied.h"

namespace weir::observe {
namespace {

const std::string limit = "limit";

// A few consumers are frequent, many are rare.
std::uint64_t any_consumer() {
  return *rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(0, 5), rc::gen::inRange<std::uint64_t>(0, 100));
}

RC_GTEST_PROP(SpaceSaving, CountsHoldWithinTheirErrors, ()) {
  const auto capacity = *rc::gen::inRange<std::size_t>(1, 20);
  SpaceSaving sketch(capacity);
  std::map<std::uint64_t, std::uint64_t> truth;
  const int additions = *rc::gen::inRange(0, 300);
  for (int i = 0; i < additions; ++i) {
    const std::uint64_t consumer = any_consumer();
    ++truth[consumer];
    sketch.add({&limit, consumer});
  }
  RC_ASSERT(sketch.entries().size() == std::min(capacity, truth.size()));
  for (const auto& [consumer, count] : truth) {
    const auto entry =
        std::ranges::find(sketch.entries(), SpaceSaving::Key{&limit, consumer}, &SpaceSaving::Entry::key);
    if (entry == sketch.entries().end()) {
      RC_ASSERT(count <= sketch.max_missed());
    } else {
      RC_ASSERT(entry->count >= count);
      RC_ASSERT(entry->count - entry->error <= count);
    }
  }
}

RC_GTEST_PROP(TopDenied, CountsOfSeveralLoopsHoldWithinTheirErrors, ()) {
  const auto capacity = *rc::gen::inRange<std::size_t>(1, 20);
  TopDenied one(capacity);
  TopDenied other(capacity);
  std::map<std::string, std::uint64_t> truth;
  const Instant begin{std::chrono::hours{1000}};
  const int denials = *rc::gen::inRange(0, 200);
  for (int i = 0; i < denials; ++i) {
    const std::uint64_t consumer = any_consumer();
    const std::string name = std::to_string(consumer);
    const Instant now = begin + std::chrono::seconds{10 * i};  // over two half hours
    ++truth[name];
    (*rc::gen::arbitrary<bool>() ? one : other).count(limit, consumer, now, [&](std::string& out) { out = name; });
  }
  const std::array<const TopDenied*, 2> all{&one, &other};
  const auto top = TopDenied::top(all, 1000, begin + std::chrono::seconds{10 * denials});
  for (const DeniedConsumer& denied : top) {
    RC_ASSERT(denied.count >= truth[denied.consumer]);
    RC_ASSERT(denied.count - denied.error <= truth[denied.consumer]);
  }
  RC_ASSERT(std::ranges::is_sorted(top, std::ranges::greater{}, &DeniedConsumer::count));
}

}  // namespace
}  // namespace weir::observe
