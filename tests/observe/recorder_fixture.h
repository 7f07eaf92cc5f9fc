// A fixture with an engine whose evaluator has a recorder, a log and a clock.
#pragma once

#include <array>
#include <chrono>
#include <string>

#include "observe/recorder.h"
#include "tests/engine/engine_fixture.h"
#include "tests/observe/folder.h"

namespace weir::observe {

using engine::Asked;
using engine::Query;
using engine::Request;
using engine::Verdict;

// Advances by `step` with every reading.
struct SteppingWatch {
  static inline std::chrono::nanoseconds time{0};
  static inline std::chrono::nanoseconds step{0};
  static std::chrono::nanoseconds look() noexcept { return time += step; }
};

class RecorderTest : public engine::EngineTest {
 protected:
  void load(std::string_view text) {
    engine::EngineTest::load(text);
    evaluator_ = engine_->new_evaluator({.observer = &recorder_});
  }
  void TearDown() override { evaluator_.reset(); }

  void send_batch(const Request& request, std::size_t size) {
    const Asked asked(request);
    const std::vector<Query> queries(size, asked.query());
    std::vector<Verdict> verdicts(size);
    evaluator_->evaluate(queries, now_, verdicts);
  }
  bool ask(const std::vector<std::pair<std::string, std::string>>& pairs, std::string_view domain) {
    std::vector<engine::DescriptorEntry> entries;
    for (const auto& [key, value] : pairs) entries.push_back({key, value});
    const engine::DescriptorQuery ask{.entries = entries, .hits = Cost{1}, .limit_override = {}};
    engine::DescriptorStatus status;
    return evaluator_->evaluate(domain, {&ask, 1}, now_, {&status, 1});
  }

  RecorderTotals totals() const {
    RecorderTotals totals;
    recorder_.add_to(totals);
    return totals;
  }
  std::vector<DeniedConsumer> denied() const {
    const TopDenied* const one = &recorder_.denied();
    return TopDenied::top({&one, 1}, 100, now_);
  }
  std::string logged() {
    writer_.flush();
    return folder_.read("log");
  }

  Folder folder_;
  LogWriter writer_{{}, *LogFile::open(folder_.file("log"))};
  DecisionLog log_{writer_, {}};
  ConsumerNames names_{{3, 4}};
  Recorder recorder_{names_, &log_, 0, &SteppingWatch::look};
};

}  // namespace weir::observe
