// The answer to a query: may it pass, by which limit, what is left, when to come back; and the same as header fields
// and as the body of a denial, as the server would send them.
//
// A verdict is a value. Its names hold as long as it does, or a copy of it: over reloads, and when the engine is gone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/decision.h"
#include "weir/field_choice.h"
#include "weir/header.h"
#include "weir/reason.h"
#include "weir/time.h"

namespace weir {

namespace embedded {
struct VerdictAccess;
}

struct Verdict;

// The header fields of an answer, in memory of its own; nothing is allocated. None where no limit has a part in it.
class HeaderFields {
 public:
  explicit HeaderFields(const Verdict& verdict, const FieldChoice& choice = {}) noexcept;
  HeaderFields(const HeaderFields&) = delete;
  HeaderFields& operator=(const HeaderFields&) = delete;

  [[nodiscard]] const Header* begin() const noexcept { return fields_.data(); }
  [[nodiscard]] const Header* end() const noexcept { return fields_.data() + count_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

 private:
  void add(std::string_view name, std::string_view value) noexcept;

  std::array<Header, 10> fields_{};
  std::size_t count_ = 0;
  std::array<char, 1280> text_;
  std::size_t used_ = 0;
};

struct [[nodiscard]] Verdict {
  bool admitted = false;
  Reason reason = Reason::not_evaluated;

  // The limit that decided: admitted, the one with the least left relative to its size; denied, the denying one with
  // the longest wait. Empty: none has a part in it.
  std::string_view limit{};
  Decision decision{};  // of that limit

  std::optional<Duration> retry_after = Duration::zero();  // the longest of the limits that deny; empty: never
  Duration delay = Duration::zero();                       // an admitted caller waits so long for its turn (queues)

  std::string_view route{};  // the most specific one of the policy that the request fits, or `other`
  std::string_view tier{};   // empty: the policy has none
  Instant at{};              // when it was evaluated

  [[nodiscard]] explicit operator bool() const noexcept { return admitted; }

  // 200; 429; 403 where waiting never helps; 503 for want of memory, or if nobody evaluated it.
  [[nodiscard]] unsigned status() const noexcept;

  // For every answer, admitted or denied. After a warning, X-RateLimit-Warning is among them.
  //
  //   for (const weir::Header& field : verdict.fields()) response.set_header(field.name, field.value);
  [[nodiscard]] HeaderFields fields(const FieldChoice& choice = {}) const noexcept {
    return HeaderFields(*this, choice);
  }

  // The body of a denial: problem details (RFC 9457). Empty if it is admitted.
  static constexpr std::string_view problem_type = "application/problem+json";
  [[nodiscard]] std::string problem() const;

 private:
  friend class HeaderFields;
  friend struct embedded::VerdictAccess;

  bool has_fields_ = false;
  bool at_once_ = false;      // the limit is on what runs at once: nobody knows when one of them ends
  std::uint32_t number_ = 0;  // of the limit
  Duration window_{};
  std::vector<std::string_view> also_denying_{};  // beside `limit`
  std::shared_ptr<const void> names_{};           // what the views point to
};

}  // namespace weir
