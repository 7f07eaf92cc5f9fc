// Serializes a plan as the command that decides it. script/arguments.lua documents the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/redis/script_plan.h"

namespace weir::store::redis {

class ScriptArgument {
 public:
  // Assigns positions to all keys of states: buckets, windows, then logs. The keys next to them follow.
  void prepare(const ScriptPlan& plan);

  // The keys of the prepared plan. Those that are not logs come first.
  [[nodiscard]] std::size_t plain_keys() const noexcept { return plain_keys_; }
  [[nodiscard]] std::size_t keys() const noexcept { return order_.size(); }
  [[nodiscard]] std::uint32_t key_at(std::size_t position) const noexcept { return order_[position]; }

  // Appends the command `name` with `script` as its first argument.
  void write(std::string& out, std::string_view name, std::string_view script, const ScriptPlan& plan);

 private:
  void write_numbers(const ScriptPlan& plan);
  void write_receipts(const ScriptPlan& plan);
  void add_terms(const ScriptPlan& plan, std::size_t begin);
  void add_message(const ScriptPlan& plan, const ScriptPlan::Evaluation& evaluation, const ScriptPlan::Check& check);
  void add_evaluation(const ScriptPlan& plan, const ScriptPlan::Evaluation& evaluation);
  void add_receipts(const ScriptPlan& plan, const ScriptPlan::Evaluation& evaluation);
  [[nodiscard]] std::int64_t number_of(std::uint32_t key) const noexcept { return std::int64_t{positions_[key]} + 1; }
  [[nodiscard]] std::int64_t position_of_term(std::uint32_t term) const noexcept;
  // Names a receipt to read. Returns its number; 0 if there is no id.
  std::int64_t name_receipt(std::uint32_t key, char kind, core::ReceiptId id);

  std::vector<std::uint32_t> order_;           // the keys by position
  std::vector<std::uint32_t> positions_;       // position of each key
  std::vector<std::uint32_t> term_positions_;  // position of each term in the array
  std::vector<bool> term_is_simple_;           // a bucket with a cost that is not zero
  std::size_t bucket_keys_ = 0;
  std::size_t plain_keys_ = 0;         // all but logs
  std::vector<std::uint32_t> leased_;  // keys with messages: the script also uses the slices next to them
  std::string key_beside_;             // buffer for the key being written
  std::vector<std::int64_t> numbers_;  // the array
  std::int64_t needs_ = 0;             // bit set of the operations in use
  std::string packed_;
  std::vector<std::uint32_t> with_receipts_;   // keys whose receipts are named
  std::vector<std::int64_t> receipt_numbers_;  // the array about receipts
  std::vector<std::int64_t> keys_of_names_;    // the key of each named receipt
  std::string names_;                          // of receipts
  std::string packed_receipts_;
};

}  // namespace weir::store::redis
