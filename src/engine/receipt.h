// The receipt of a reserve, in a form that any node can find again, after a restart and under a newer policy.
//
// The open receipts are stored next to the states (core/receipts.h). A ReceiptParts locates them: it has the code of
// each limit's name, and the consumer. Frontends seal it (frontend/receipt_texts.h): clients cannot read or forge it.
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
  static constexpr std::size_t max_bytes = 348;  // sealed, these have at most 512 characters

  struct Part {
    std::uint64_t limit = 0;    // name_code of its name
    table::KeyHash consumer{};  // valid in the process that issued the receipt
    std::uint8_t text = 0;      // index into `consumers`
    bool takes_actual = false;  // the caller set the cost, so it may settle with the actual cost

    friend bool operator==(const Part&, const Part&) = default;
  };

  core::ReceiptId id{};
  std::uint64_t tier = 0;  // name_code of its name
  std::vector<Part> parts;
  std::vector<std::string> consumers;  // distinct, as in the keys of a shared store

  // Identifies a limit or a tier in 8 bytes.
  [[nodiscard]] static std::uint64_t name_code(std::string_view name) noexcept;

  void clear() noexcept;
  void add(std::uint64_t limit, table::KeyHash consumer, std::string_view text, bool takes_actual);
  void add(std::string_view limit, table::KeyHash consumer, std::string_view text, bool takes_actual) {
    add(name_code(limit), consumer, text, takes_actual);
  }

  [[nodiscard]] std::size_t bytes() const noexcept;
  void append_to(std::string& out) const;
  // Returns nothing if append_to() did not write the bytes.
  [[nodiscard]] static std::optional<ReceiptParts> read(std::string_view bytes);

  friend bool operator==(const ReceiptParts&, const ReceiptParts&) = default;
};

// Returns the id for a name that the caller chose, so that a repeated call with the same name counts once.
[[nodiscard]] core::ReceiptId receipt_id_of(std::string_view name) noexcept;
// Returns a unique id.
[[nodiscard]] core::ReceiptId new_receipt_id() noexcept;

struct ReceiptRequest {
  enum class Action : std::uint8_t {
    reserve,    // decides, and opens a receipt for each charged state
    hold,       // the same, but opens receipts only for concurrency limits
    report,     // charges unconditionally; opens no receipt
    give_back,  // refunds the newest charges, or the oldest holds, without a receipt
    settle,
    release,
    extend,
  };

  // The default lifetime of a receipt; for a concurrency limit it is the limit's `lease`.
  static constexpr Duration default_lifetime = std::chrono::minutes(10);

  Action action = Action::reserve;
  core::ReceiptId id{};          // for reserve and report, chosen by the caller; if empty, a reserve gets a new one
  Duration lasts{};              // the lifetime, for reserve, hold and extend; zero: the default
  std::optional<Cost> actual{};  // the actual cost, for settle

  [[nodiscard]] bool decides() const noexcept { return action == Action::reserve || action == Action::hold; }
  // The lifetime of a receipt for a state of this rule.
  [[nodiscard]] Duration lasts_for(const core::Rule& rule) const noexcept {
    if (lasts > Duration::zero()) return lasts;
    const auto* const holds = std::get_if<core::RuleOf<core::Concurrency>>(&rule);
    return holds == nullptr ? default_lifetime : Duration{holds->limit.window};
  }
};

// The result of a ReceiptRequest for one limit.
struct ReceiptOutcome {
  std::optional<std::uint32_t> limit;  // index in Ruleset::limits; unset: no longer in the policy
  core::ReceiptResult result = core::ReceiptResult::unknown;  // `none`: the store did not answer
  std::uint64_t lost = 0;
  Instant ends{};
  Decision decision;
};

}  // namespace weir::engine
