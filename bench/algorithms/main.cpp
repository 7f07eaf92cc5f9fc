// The benchmarks of the algorithms, reported by their medians. Run with repetitions.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "algorithms/decide.h"

namespace {

// Interleaved benchmarks finish in any order, so results are collected and printed at the end.
class MedianReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      Line& line = lines_[run.family_index];
      line.name = run.run_name.function_name;
      if (run.error_occurred) line.error = run.error_message;
      if (run.aggregate_name == "median") line.median = run.GetAdjustedCPUTime();
      if (run.aggregate_name == "stddev") line.deviation = run.GetAdjustedCPUTime();
    }
  }

  void Finalize() override {
    std::printf("%-48s %10s %12s\n", "ns of processor time per decision", "median", "deviation");
    for (const auto& [index, line] : lines_) {
      if (line.error.empty()) {
        std::printf("%-48s %10.1f %12.1f\n", line.name.c_str(), line.median, line.deviation);
      } else {
        std::printf("%-48s failed: %s\n", line.name.c_str(), line.error.c_str());
        failed_ = true;
      }
    }
  }

  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  struct Line {
    std::string name;
    std::string error;
    double median = 0;
    double deviation = 0;
  };

  std::map<std::int64_t, Line> lines_;  // in the order of registration
  bool failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  bench::algorithms::add_decide();
  MedianReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return reporter.failed() ? 1 : 0;
}
