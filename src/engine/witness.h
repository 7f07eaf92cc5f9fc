// Who sees what a judge decides: for metrics and logs. Called on the judge's thread, under its hold.
#pragma once

#include <chrono>
#include <span>
#include <string_view>

#include "engine/descriptors.h"
#include "engine/named.h"
#include "engine/query.h"
#include "engine/verdict.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::engine {

class Judge;

// What was decided on the descriptors of one request.
struct DescriptorVerdict {
  std::string_view domain;
  std::span<const DescriptorAsk> asks;
  std::span<const DescriptorStatus> statuses;  // one for each
  bool admitted = true;
};

class Witness {
 public:
  Witness() = default;
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  virtual ~Witness() = default;

  // The judge goes on by this policy. Under its hold too, but on the thread that reloads.
  virtual void entered(const Plan& /*plan*/) {}

  // A batch is about to be judged. Gives the time, for resume().
  virtual std::chrono::nanoseconds begin() { return {}; }
  // What is told next began then: others were judged meanwhile.
  virtual void resume(std::chrono::nanoseconds /*begun*/) {}

  // It was; peeks are among them. The witness may ask the judge for its plan and for consumers, for nothing else.
  virtual void judged(Judge& judge, std::span<const Query> queries, std::span<const Verdict> verdicts, Instant now) = 0;
  virtual void judged(Judge& judge, std::span<const DescriptorVerdict> verdicts, Instant now) = 0;

  // Of what was asked by name; an error was not judged.
  virtual void judged_by_name(Judge& /*judge*/, std::span<const NamedAsk> /*asks*/,
                              std::span<const Result<Verdict>> /*verdicts*/, Instant /*now*/) {}
};

}  // namespace weir::engine
