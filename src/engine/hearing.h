// Questions that are judged on a shared store: asked together, answered later, on the loop's thread.
//
//   auto hearing = judge.new_hearing();        // kept by a session and used again and again
//   hearing->clear();
//   hearing->add(query); ...                   // what the questions view stays until it is over, or abandoned
//   hearing->begin([...] { ... });             // called when it is over, unless it is over when begin returns
//   if (hearing->over()) answer(*hearing);
//
// With the store away the limits are judged by what the policy says for that, at once. Verdicts and their views are
// good until clear(), over reloads. What is under way when a reload comes is judged by the old policy, and not counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/algorithm/gcra.h"
#include "engine/descriptor_name.h"
#include "engine/descriptors.h"
#include "engine/named.h"
#include "engine/plan.h"
#include "engine/query.h"
#include "engine/shared_case.h"
#include "engine/verdict.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::engine {

class Judge;

class Hearing final : public std::enable_shared_from_this<Hearing>, private SharedCase::Owner {
 public:
  explicit Hearing(Judge& judge);
  ~Hearing() override;
  Hearing(const Hearing&) = delete;
  Hearing& operator=(const Hearing&) = delete;

  // Not while it is under way.
  void clear() noexcept;

  // Each gets the next number, from nought.
  void add(const Query& query);
  void add(const NamedAsk& ask);
  void add(std::string_view domain, std::span<const DescriptorAsk> asks);  // all or nothing
  void add_reset(const NamedAsk& ask);
  void add_descriptor_reset(const DescriptorName& name);
  void add_throttle(std::string_view key, const core::Gcra::Limit& limit, Cost quantity);

  void begin(std::function<void()> done);
  [[nodiscard]] bool over() const noexcept { return over_; }

  // Nobody waits any more, and what the questions view may go: it ends without being told.
  void abandon() noexcept;

  // When it is over.
  [[nodiscard]] const Plan& plan() const noexcept { return *plan_; }
  [[nodiscard]] std::size_t size() const noexcept { return used_; }
  // Of a query, or of a question by name: an error if that could not be read.
  [[nodiscard]] const Result<Verdict>& verdict(std::size_t i) const noexcept;
  // The consumer of a question by name, as consumer.h writes it.
  [[nodiscard]] std::string_view consumer(std::size_t i) const noexcept;
  // Of descriptors: one for each, and whether all of them admit.
  [[nodiscard]] std::span<const DescriptorStatus> statuses(std::size_t i) const noexcept;
  [[nodiscard]] bool admitted(std::size_t i) const noexcept;
  // Of CL.THROTTLE; null if the store is away: no policy says what holds then.
  [[nodiscard]] const Decision* decision(std::size_t i) const noexcept;
  // Of a reset.
  [[nodiscard]] const Result<void>& reset(std::size_t i) const noexcept;
  // When it was judged, by the clock of who judged it.
  [[nodiscard]] Instant judged_at(std::size_t i) const noexcept;

 private:
  class Item;

  [[nodiscard]] Item& new_item();
  void ended(SharedCase& ended) override;
  void answered(SharedCase& answered) override;
  void conclude();

  Judge& judge_;
  std::shared_ptr<const Plan> plan_;
  std::vector<std::unique_ptr<Item>> items_;  // only grows; those in use come first
  std::size_t used_ = 0;
  std::size_t open_ = 0;
  std::chrono::nanoseconds begun_{};
  std::function<void()> done_;
  std::shared_ptr<Hearing> self_;  // while it is under way
  bool over_ = true;
  bool abandoned_ = false;
};

}  // namespace weir::engine
