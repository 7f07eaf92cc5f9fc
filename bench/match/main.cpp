// The cost of finding the limits of a request by its method and target, with ten routes and with ten thousand. Both use
// the same kind of requests from memory of the same size, and alternate. --quick runs one round.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <vector>

#include "match/api.h"

namespace bench::match {
namespace {

using weir::match::Matches;
using weir::match::PathReader;
using weir::match::RouteEntry;
using weir::match::RouteTree;

constexpr std::size_t requests_per_round = 65'536;

double thread_cpu_ns() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

class Contender {
 public:
  explicit Contender(const std::vector<RouteEntry>& routes)
      : routes_(routes), requests_(routes_, requests_per_round, 1), tree_(RouteTree::build(routes_)), matches_(tree_) {}

  // True if each request is covered by the limit of its route.
  bool is_right() {
    return std::all_of(requests_.all().begin(), requests_.all().end(), [&](const Request& request) {
      tree_.match(request.method, reader_.read(request.target), matches_);
      const auto all = matches_.all();
      return std::any_of(all.begin(), all.end(), [&](const auto& match) { return match.limit == request.limit; });
    });
  }

  void run() {
    const double start = thread_cpu_ns();
    for (const Request& request : requests_.all()) {
      tree_.match(request.method, reader_.read(request.target), matches_);
      found_ += matches_.all().size();
    }
    const double matched = thread_cpu_ns();
    for (const Request& request : requests_.all()) found_ += reader_.read(request.target).pieces.size();
    const double read = thread_cpu_ns();
    match_ns_.push_back((matched - start) / requests_per_round);
    read_ns_.push_back((read - matched) / requests_per_round);
  }

  // The result is the median. The best round is shown too: they differ on a busy machine, see docs/benchmarks.md.
  double report(const char* name) {
    const double median = median_of(match_ns_);
    std::printf("%-14s median %.1f ns a request, best %.1f; %.1f ns of the median to read the path\n", name, median,
                *std::min_element(match_ns_.begin(), match_ns_.end()), median_of(read_ns_));
    return median;
  }

  [[nodiscard]] std::size_t found() const { return found_; }

 private:
  static double median_of(std::vector<double> figures) {
    const auto middle = figures.begin() + static_cast<std::ptrdiff_t>(figures.size() / 2);
    std::nth_element(figures.begin(), middle, figures.end());
    return *middle;
  }

  std::vector<RouteEntry> routes_;
  Requests requests_;
  RouteTree tree_;
  Matches matches_;
  PathReader reader_;
  std::vector<double> match_ns_;
  std::vector<double> read_ns_;
  std::size_t found_ = 0;
};

int run(int rounds) {
  Contender few(small_api());
  Contender many(large_api());
  if (!few.is_right() || !many.is_right()) {
    std::fprintf(stderr, "match: a request was not found\n");
    return 1;
  }
  for (int i = 0; i < rounds; ++i) {
    few.run();
    many.run();
  }
  const double few_ns = few.report("10 routes");
  const double many_ns = many.report("10000 routes");
  if (few.found() == 0 || many.found() == 0) return 1;  // uses the result, so that the search is not optimized away
  std::printf("match: 10 routes %.1f ns, 10000 routes %.1f ns, ratio %.2fx\n", few_ns, many_ns, many_ns / few_ns);
  return 0;
}

}  // namespace
}  // namespace bench::match

int main(int argc, char** argv) {
  const bool quick = argc == 2 && std::string_view(argv[1]) == "--quick";
  return bench::match::run(quick ? 1 : 41);
}
