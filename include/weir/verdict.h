// SPDX-License-Identifier: Apache-2.0
// The result of a query: whether it is admitted, by which limit, what remains and when to retry; also as header fields
// and as a response body, as the server would send them.
//
// A verdict is a value. Its names stay valid for its lifetime and that of its copies: across reloads, and after the
// engine is destroyed.
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

// The header fields of a response, in this object's own memory; nothing is allocated. Empty if no limit applied.
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

  // The deciding limit. If admitted, the one with the least remaining relative to its size; if denied, the denying one
  // with the longest wait. Empty if no limit applied.
  std::string_view limit{};
  Decision decision{};  // the decision of `limit`

  std::optional<Duration> retry_after = Duration::zero();  // the longest of the denying limits; empty: never
  Duration delay = Duration::zero();  // how long an admitted caller must wait for its turn (queues)

  std::string_view route{};  // the most specific matching route of the policy, or `other`
  std::string_view tier{};   // empty: the policy has no tiers
  Instant at{};              // when it was evaluated

  [[nodiscard]] explicit operator bool() const noexcept { return admitted; }

  // Returns 200, 429, 403 if waiting never helps, or 503 if out of memory or not evaluated.
  [[nodiscard]] unsigned status() const noexcept;

  // Fields for every response, admitted or denied. After a warning they include X-RateLimit-Warning.
  //
  //   for (const weir::Header& field : verdict.fields()) response.set_header(field.name, field.value);
  [[nodiscard]] HeaderFields fields(const FieldChoice& choice = {}) const noexcept {
    return HeaderFields(*this, choice);
  }

  // The response body of a denial: problem details (RFC 9457). Empty if admitted.
  static constexpr std::string_view problem_type = "application/problem+json";
  [[nodiscard]] std::string problem() const;

 private:
  friend class HeaderFields;
  friend struct embedded::VerdictAccess;

  bool has_fields_ = false;
  bool is_concurrency_ = false;  // a concurrency limit: the end of a hold cannot be predicted
  std::uint32_t number_ = 0;     // index of the limit
  Duration window_{};
  std::vector<std::string_view> also_denying_{};  // besides `limit`
  std::shared_ptr<const void> names_{};           // owns the memory that the views refer to
};

}  // namespace weir
