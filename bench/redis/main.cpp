// Compares the Redis store with one EVALSHA per request on one server: throughput, and latency at low load.
//
//   redis_store HOST PORT PROCESS [--quick]     PROCESS: the server's process ID
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/loop.h"
#include "redis/leased_load.h"
#include "redis/load.h"
#include "redis/plain_load.h"
#include "redis/receipt_load.h"
#include "redis/slice_load.h"
#include "redis/weir_load.h"
#include "store/redis/redis_store.h"
#include "store/store_counts.h"

namespace {

using namespace weir;
using namespace weir::bench;
using SteadyTime = std::chrono::steady_clock::time_point;
using namespace std::chrono_literals;

// The durations of the measurements.
struct Extent {
  int rounds = 7;
  std::chrono::milliseconds round = 1500ms;
  std::chrono::milliseconds warm_up = 200ms;
};
constexpr Extent quick{.rounds = 1, .round = 100ms, .warm_up = 50ms};
constexpr std::size_t plain_under_way = 64;
constexpr std::size_t weir_under_way = 256;
constexpr std::size_t weir_under_way_hot = 4096;  // one consumer with many connections
constexpr int low_load_requests = 10'000;

void wait_for(const std::function<bool()>& condition, const char* what) {
  const auto deadline = std::chrono::steady_clock::now() + 120s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      std::cerr << "redis: " << what << '\n';
      std::exit(EXIT_FAILURE);
    }
    std::this_thread::sleep_for(1ms);
  }
}

// Requests per second.
double measure(const Extent& extent, net::Loop& loop, Load& load, Work work, std::size_t under_way) {
  loop.run([&] { load.begin(work, under_way); });
  std::this_thread::sleep_for(extent.warm_up);
  const std::uint64_t before = load.answered();
  const auto began = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(extent.round);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const auto answered = static_cast<double>(load.answered() - before);
  loop.run([&] { load.end(); });
  wait_for([&] { return load.idle(); }, "requests are not answered");
  if (load.failed() != 0) {
    std::cerr << "redis: " << load.failed() << " requests failed\n";
    std::exit(EXIT_FAILURE);
  }
  return answered / took;
}

// Alternates between both, so that they see the same machine load.
void compare(const char* name, const Extent& extent, net::Loop& loop, WeirLoad& ours, PlainLoad& plain, Work work) {
  std::vector<double> weir_rates;
  std::vector<double> plain_rates;
  for (int i = 0; i < extent.rounds; ++i) {
    plain_rates.push_back(measure(extent, loop, plain, work, plain_under_way));
    weir_rates.push_back(
        measure(extent, loop, ours, work, work == Work::hot_key ? weir_under_way_hot : weir_under_way));
  }
  const double x = percentile(weir_rates, 50);
  const double y = percentile(plain_rates, 50);
  std::printf("%s: weir %.0f/s, one EVALSHA per request %.0f/s, ratio %.2fx\n", name, x, y, x / y);
  std::fflush(stdout);
}

// The same for leased limits, compared with one EVALSHA per request on distinct keys or on the hot key.
void compare_leased(const char* name, const Extent& extent, net::Loop& loop, LeasedLoad& leased, PlainLoad& plain,
                    Work work) {
  std::vector<double> weir_rates;
  std::vector<double> plain_rates;
  for (int i = 0; i < extent.rounds; ++i) {
    plain_rates.push_back(measure(extent, loop, plain, work, plain_under_way));
    weir_rates.push_back(measure(extent, loop, leased, work, weir_under_way));
  }
  const double x = percentile(weir_rates, 50);
  const double y = percentile(plain_rates, 50);
  std::printf("%s: weir %.0f/s, one EVALSHA per request %.0f/s, ratio %.1fx, without a trip %.2f %%\n", name, x, y,
              x / y, 100 * leased.share_without_trip());
  std::fflush(stdout);
}

// Approximate limits compared with the local store.
void compare_approximate(const char* name, const Extent& extent, net::Loop& loop, LeasedLoad& approximate,
                         LeasedLoad& local, Work work) {
  std::vector<double> rates;
  std::vector<double> local_rates;
  std::vector<double> times;
  std::vector<double> local_times;
  for (int i = 0; i < extent.rounds; ++i) {
    rates.push_back(measure(extent, loop, approximate, work, weir_under_way));
    local_rates.push_back(measure(extent, loop, local, work, weir_under_way));
    loop.run([&] { times.push_back(percentile(approximate.times_of(low_load_requests), 50)); });
    loop.run([&] { local_times.push_back(percentile(local.times_of(low_load_requests), 50)); });
  }
  const double x = percentile(rates, 50);
  const double y = percentile(local_rates, 50);
  std::printf("%s: weir %.0f/s, local store %.0f/s, ratio %.2fx, p50 %.0f ns, local store %.0f ns, denied %.3f %%\n",
              name, x, y, x / y, percentile(times, 50), percentile(local_times, 50), 100 * approximate.share_denied());
  std::fflush(stdout);
}

// The processor time of the server.
class Processor {
 public:
  explicit Processor(const std::string& process) : stat_("/proc/" + process + "/stat") {}

  // Microseconds per request, median of the rounds.
  [[nodiscard]] double cost(const Extent& extent, net::Loop& loop, Load& load, Work work, std::size_t under_way) const {
    std::vector<double> costs;
    for (int i = 0; i < extent.rounds; ++i) {
      const double before = used();
      const std::uint64_t answered = load.answered();
      (void)measure(extent, loop, load, work, under_way);
      costs.push_back((used() - before) / static_cast<double>(load.answered() - answered));
    }
    return percentile(costs, 50);
  }

 private:
  // The CPU time of the process. Its name, in brackets, may contain spaces.
  [[nodiscard]] double used() const {
    std::ifstream file(stat_);
    std::string text;
    std::getline(file, text, ')');
    std::getline(file, text);
    std::istringstream words(text);
    for (int i = 0; i < 11; ++i) words >> text;
    double user = 0;
    double system = 0;
    words >> user >> system;
    return (user + system) * 1e6 / static_cast<double>(sysconf(_SC_CLK_TCK));
  }

  std::string stat_;
};

// One request at a time, alternating between the kinds.
class LowLoad final : private store::Callback {
 public:
  LowLoad(store::redis::RedisStore& store, PlainLoad& plain) : store_(store), plain_(plain), rule_(rule_of(of_a_user)) {
    group_.callback = this;
    group_.checks.resize(1);
    group_.checks[0].rule = &rule_;
    plain_.on_pong = [this] {
      raw_.push_back(since_begun());
      submit_next();
    };
  }

  void submit_next() {
    keys_.next(Work::distinct_keys, group_.checks[0].key);
    began_ = std::chrono::steady_clock::now();
    store_.submit(group_);
  }
  [[nodiscard]] bool done() const noexcept { return done_; }
  [[nodiscard]] const std::vector<double>& ours() const noexcept { return ours_; }
  [[nodiscard]] const std::vector<double>& raw() const noexcept { return raw_; }

 private:
  void answered(store::Group& /*group*/) override {
    ours_.push_back(since_begun());
    if (ours_.size() == low_load_requests) {
      done_ = true;
      return;
    }
    began_ = std::chrono::steady_clock::now();
    plain_.ping();
  }
  [[nodiscard]] double since_begun() const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began_).count();
  }

  store::redis::RedisStore& store_;
  PlainLoad& plain_;
  core::Rule rule_;
  store::Group group_;
  Keys keys_{"weir:"};
  SteadyTime began_;
  std::vector<double> ours_;
  std::vector<double> raw_;
  std::atomic<bool> done_ = false;
};

// The processor time of Redis for operations on receipts, by the number of open ones.
void print_receipts(const Extent& extent, const Processor& processor, net::Loop& loop, store::redis::RedisStore& store,
                    bool is_quick) {
  constexpr std::array receipt_kinds{
      std::pair{"bucket", ReceiptLoad::On::bucket}, std::pair{"window", ReceiptLoad::On::window},
      std::pair{"counter", ReceiptLoad::On::counter}, std::pair{"log", ReceiptLoad::On::log},
      std::pair{"concurrency", ReceiptLoad::On::concurrency}};
  for (const auto& [name, on] : receipt_kinds) {
    std::printf("redis-receipts: %s", name);
    for (const std::uint64_t open :
         is_quick ? std::vector<std::uint64_t>{1} : std::vector<std::uint64_t>{1, 100, 1'000}) {
      ReceiptLoad receipts(store, on, open);
      loop.run([&] { receipts.begin(Work::distinct_keys, ReceiptLoad::keys); });
      wait_for([&] { return receipts.is_filled(); }, "receipts are not opened");
      loop.run([&] { receipts.end(); });
      wait_for([&] { return receipts.idle(); }, "reserves are not answered");
      const double cost = processor.cost(extent, loop, receipts, Work::distinct_keys, ReceiptLoad::keys);
      std::printf("%s %.2f us of Redis for a reserve or a settlement with %llu open", open == 1 ? "" : ",", cost,
                  static_cast<unsigned long long>(open));
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

// The processor time of Redis for a message about a slice, by the number of holders.
void print_slices(const Extent& extent, const Processor& processor, net::Loop& loop, store::redis::RedisStore& store) {
  std::printf("redis-slices:");
  for (const std::uint64_t holders : {std::uint64_t{1}, std::uint64_t{50}, std::uint64_t{200}}) {
    SliceLoad slices(store, holders);
    loop.run([&] { slices.begin(Work::distinct_keys, SliceLoad::keys); });
    wait_for([&] { return slices.is_filled(); }, "slices are not granted");
    loop.run([&] { slices.end(); });
    wait_for([&] { return slices.idle(); }, "messages are not answered");
    const double cost = processor.cost(extent, loop, slices, Work::distinct_keys, SliceLoad::keys);
    std::printf("%s %.2f us of Redis for a message about a key with %llu slices", holders == 1 ? "" : ",", cost,
                static_cast<unsigned long long>(holders));
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  const bool is_quick = count == 5 && std::string_view(arguments[4]) == "--quick";
  const bool is_about_receipts = count == 5 && std::string_view(arguments[4]) == "--receipts";
  if (count != 4 && !is_quick && !is_about_receipts) {
    std::cerr << "usage: redis_store HOST PORT PROCESS [--quick | --receipts]\n";
    return EXIT_FAILURE;
  }
  const net::Endpoint server{arguments[1], static_cast<std::uint16_t>(std::atoi(arguments[2])), {}};
  const Extent extent = is_quick ? quick : is_about_receipts ? Extent{.rounds = 3} : Extent{};
  auto loops = net::Loops::make(1);
  if (!loops || !(*loops)->start()) return EXIT_FAILURE;
  net::Loop& loop = (**loops)[0];
  store::StoreCounts counts;
  store::redis::RedisOptions options;
  options.servers = {server};
  options.timeout = 1s;  // avoids timeouts, which are not measured
  std::unique_ptr<store::redis::RedisStore> store;
  std::unique_ptr<PlainLoad> plain;
  loop.run([&] {
    store = std::make_unique<store::redis::RedisStore>(loop, options, counts);
    plain = std::make_unique<PlainLoad>(loop, server);
  });
  wait_for([&] { return counts.connected.value() == 1 && plain->ready(); }, "the server does not answer");
  const Processor processor(arguments[3]);
  if (is_about_receipts) {
    print_receipts(extent, processor, loop, *store, is_quick);
    loop.run([&] {
      store.reset();
      plain.reset();
    });
    return EXIT_SUCCESS;
  }
  WeirLoad ours(*store);

  compare("redis-exact", extent, loop, ours, *plain, Work::distinct_keys);
  compare("redis-two", extent, loop, ours, *plain, Work::user_and_all);
  compare("redis-hot", extent, loop, ours, *plain, Work::hot_key);

  LeasedLoad leased(loop, *store, LeasedLoad::Kind::leased);
  compare_leased("redis-leased", extent, loop, leased, *plain, Work::hot_key);
  compare_leased("redis-leased-zipf", extent, loop, leased, *plain, Work::distinct_keys);

  LeasedLoad approximate(loop, *store, LeasedLoad::Kind::approximate);
  LeasedLoad local(loop, *store, LeasedLoad::Kind::local);
  compare_approximate("redis-approximate", extent, loop, approximate, local, Work::hot_key);

  const double exact = processor.cost(extent, loop, ours, Work::distinct_keys, weir_under_way);
  const double hot = processor.cost(extent, loop, ours, Work::hot_key, weir_under_way_hot);
  std::printf("redis-cost: %.2f us of Redis for a decision, %.2f us for one of a hot key\n", exact, hot);
  print_slices(extent, processor, loop, *store);
  print_receipts(extent, processor, loop, *store, is_quick);

  LowLoad low(*store, *plain);
  loop.run([&] { low.submit_next(); });
  wait_for([&] { return low.done(); }, "a request is not answered");
  std::printf("redis-latency: weir p50 %.0f us p99 %.0f us, raw round trip p50 %.0f us p99 %.0f us\n",
              percentile(low.ours(), 50), percentile(low.ours(), 99), percentile(low.raw(), 50),
              percentile(low.raw(), 99));

  // Must be last, because Redis is still busy afterwards.
  LeasedLoad approximate_zipf(loop, *store, LeasedLoad::Kind::approximate);
  LeasedLoad local_zipf(loop, *store, LeasedLoad::Kind::local);
  compare_approximate("redis-approximate-zipf", extent, loop, approximate_zipf, local_zipf, Work::distinct_keys);
  loop.run([&] {
    store.reset();
    plain.reset();
  });
}
