// How the answers of a query's limits make one verdict: pure, whoever gave the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/verdict.h"
#include "weir/time.h"

namespace weir::engine {

// A query's outcomes, and which of them are live limits that were asked.
struct LiveOutcomes {
  std::span<const Outcome> outcomes;
  std::span<const std::uint32_t> live;

  [[nodiscard]] const Outcome& operator[](std::size_t c) const noexcept { return outcomes[live[c]]; }
  [[nodiscard]] std::size_t size() const noexcept { return live.size(); }
};

struct Deniers {
  std::size_t count = 0;
  std::size_t last = 0;  // of the live ones
};
[[nodiscard]] Deniers deniers_of(const LiveOutcomes& outcomes) noexcept;

// Whether `a` waits longer than `b`. Nothing is longer than never.
[[nodiscard]] bool waits_longer(const std::optional<Duration>& a, const std::optional<Duration>& b) noexcept;

// Denied outright by a block: nothing is left, and the waits are the longer of the two.
void deny_for_block(Decision& decision, const std::optional<Duration>& block_wait) noexcept;

// A denial has filled the count, and the block has begun.
void begin_block(Decision& decision, const std::optional<Duration>& block_wait) noexcept;

// `warned`, of the live ones, is the limit that would have denied; only where that is the reason.
[[nodiscard]] Verdict admitted_verdict(const LiveOutcomes& outcomes, Reason reason, std::size_t warned) noexcept;

// `outright` is the limit that denies without being asked, where that is the reason.
[[nodiscard]] Verdict denied_verdict(const LiveOutcomes& outcomes, Reason reason, std::uint32_t outright) noexcept;

}  // namespace weir::engine
