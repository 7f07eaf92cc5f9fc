// A rule and what is asked of it, as decide.lua reads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/rule.h"
#include "core/settle.h"
#include "weir/cost.h"
#include "weir/time.h"

namespace weir::store::redis {

struct ScriptTerm {
  const core::Rule* rule = nullptr;
  Cost cost{1};
  Duration max_wait = Duration::max();           // of a queue
  std::optional<core::Settlement> settlement{};  // then the cost is of no account

  // Whether it says the same, for the same rule.
  [[nodiscard]] bool says_the_same(const ScriptTerm& other) const noexcept {
    return rule == other.rule && cost == other.cost && max_wait == other.max_wait && !settlement && !other.settlement;
  }
};

// What the script keeps apart: it counts alike for algorithms whose states are alike.
[[nodiscard]] bool is_log(const core::Rule& rule) noexcept;

// The numbers of a term, in the order that decide.lua documents; each a whole one below 2^53.
class TermNumbers {
 public:
  explicit TermNumbers(const ScriptTerm& term) noexcept;

  [[nodiscard]] std::span<const std::int64_t> values() const noexcept { return {values_.data(), size_}; }

  // Whether a bucket, but no queue, is asked for a cost that is not nothing.
  [[nodiscard]] bool is_simple() const noexcept { return is_simple_; }

 private:
  void add(std::int64_t number) noexcept { values_[size_++] = number; }
  void add_span(core::FineSpan span) noexcept;
  void add_reach(const core::ArrivalLimit& limit) noexcept;
  void add_bucket(const core::ArrivalLimit& limit, std::int64_t algorithm, const ScriptTerm& term) noexcept;
  void add_bucket_settlement(const core::ArrivalLimit& limit, std::int64_t algorithm,
                             const core::Settlement& settlement) noexcept;
  void add_window(const core::WindowLimit& limit, std::int64_t algorithm, const ScriptTerm& term) noexcept;

  std::array<std::int64_t, 12> values_{};
  std::size_t size_ = 0;
  bool is_simple_ = false;
};

}  // namespace weir::store::redis
