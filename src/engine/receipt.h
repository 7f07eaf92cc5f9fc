// What a reserve has charged, in such a form that any node finds it again, after a restart and under a newer policy.
//
// The open receipts themselves lie beside the states (core/receipts.h). This says where: for each limit its name, as a
// code, and the consumer. Frontends seal its bytes (frontend/receipt_texts.h); nobody outside reads or makes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/receipts.h"
#include "core/rule.h"
#include "table/cells.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/time.h"

namespace weir::engine {

struct ReceiptParts {
  static constexpr std::size_t max_bytes = 348;  // what is more does not fit into 512 letters when it is sealed

  struct Part {
    std::uint64_t limit = 0;    // name_code of its name
    table::KeyHash consumer{};  // in the process that gave the receipt
    std::uint8_t text = 0;      // of `consumers`
    bool takes_actual = false;  // the cost was the caller's, and so is what it turned out to be

    friend bool operator==(const Part&, const Part&) = default;
  };

  core::ReceiptId id{};
  std::uint64_t tier = 0;  // name_code of its name
  std::vector<Part> parts;
  std::vector<std::string> consumers;  // as the keys of a shared store have them; each once

  // Limits and tiers are told by codes of their names, which are short.
  [[nodiscard]] static std::uint64_t name_code(std::string_view name) noexcept;

  void clear() noexcept;
  void add(std::uint64_t limit, table::KeyHash consumer, std::string_view text, bool takes_actual);
  void add(std::string_view limit, table::KeyHash consumer, std::string_view text, bool takes_actual) {
    add(name_code(limit), consumer, text, takes_actual);
  }

  [[nodiscard]] std::size_t bytes() const noexcept;
  void append_to(std::string& out) const;
  // Nothing if it is not what append_to() writes.
  [[nodiscard]] static std::optional<ReceiptParts> read(std::string_view bytes);

  friend bool operator==(const ReceiptParts&, const ReceiptParts&) = default;
};

// Which receipt is meant by a name that the caller chose, so that what it repeats counts once.
[[nodiscard]] core::ReceiptId receipt_id_of(std::string_view name) noexcept;
// One that nobody has had.
[[nodiscard]] core::ReceiptId new_receipt_id() noexcept;

// What is to be done with receipts.
struct ReceiptAsk {
  enum class What : std::uint8_t {
    reserve,    // a decision that opens a receipt beside each state it charges
    hold,       // the same, but only of limits on holds
    report,     // charges without asking; nothing is opened
    give_back,  // what was charged last, or the oldest holds, as much as there is; needs no receipt
    settle,
    release,
    extend,
  };

  static constexpr Duration usual =
      std::chrono::minutes(10);  // until a receipt ends, where nobody says; holds: `lease`

  What what = What::reserve;
  core::ReceiptId id{};          // of a reserve or a report, as the caller names it; none: a new one, or none
  Duration lasts{};              // reserve, hold, extend; zero: see lasts_for
  std::optional<Cost> actual{};  // settle

  [[nodiscard]] bool decides() const noexcept { return what == What::reserve || what == What::hold; }
  // Until a receipt beside a state of this rule ends.
  [[nodiscard]] Duration lasts_for(const core::Rule& rule) const noexcept {
    if (lasts > Duration::zero()) return lasts;
    const auto* const holds = std::get_if<core::RuleOf<core::Concurrency>>(&rule);
    return holds == nullptr ? usual : Duration{holds->limit.window};
  }
};

// What came of it for one limit.
struct ReceiptOutcome {
  std::optional<std::uint32_t> limit;                         // of Ruleset::limits; none: the policy has it no more
  core::ReceiptResult result = core::ReceiptResult::unknown;  // `none`: the store did not say
  std::uint64_t lost = 0;
  Instant ends{};
  Decision decision;
};

}  // namespace weir::engine
