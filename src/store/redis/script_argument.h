// Writes a plan as the command that decides it. See decide.lua for what it holds.
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
  // A key of the script: a key of the plan, or what lies beside a log.
  struct Place {
    std::uint32_t key;
    bool is_receipts;  // of the log that has this key
  };

  // Gives every key its place: buckets first, then windows, then the receipts of logs, then logs.
  void prepare(const ScriptPlan& plan);

  // Of the plan that was prepared.
  [[nodiscard]] std::size_t plain_keys() const noexcept { return plain_keys_; }
  [[nodiscard]] std::size_t keys() const noexcept { return order_.size(); }
  [[nodiscard]] Place at(std::size_t place) const noexcept { return order_[place]; }

  // Appends the command `name`, whose first argument is `script`.
  void write(std::string& out, std::string_view name, std::string_view script, const ScriptPlan& plan);

 private:
  void place_logs(const ScriptPlan& plan);
  void write_numbers(const ScriptPlan& plan);
  [[nodiscard]] std::int64_t term_at(const ScriptPlan& plan, Place place) const noexcept;
  void add_terms(const ScriptPlan& plan, std::size_t begin);
  void add_message(const ScriptPlan::Evaluation& evaluation, const ScriptPlan::Check& check);
  void add_evaluation(const ScriptPlan& plan, const ScriptPlan::Evaluation& evaluation);
  void add_receipts(const ScriptPlan& plan, const ScriptPlan::Evaluation& evaluation);
  [[nodiscard]] std::int64_t number_of(std::uint32_t key) const noexcept { return std::int64_t{places_[key]} + 1; }
  [[nodiscard]] std::int64_t place_of_term(std::uint32_t term) const noexcept;

  std::vector<Place> order_;                // the keys by their places
  std::vector<std::uint32_t> places_;       // of the keys
  std::vector<std::uint32_t> term_places_;  // of the terms, in the array
  std::vector<bool> term_is_simple_;        // a bucket is asked for a cost that is not nothing
  std::size_t bucket_keys_ = 0;
  std::size_t plain_keys_ = 0;         // all but logs
  std::string receipts_key_;           // the one that is written
  std::vector<std::int64_t> numbers_;  // the array
  std::int64_t needs_ = 0;             // which operations it has
  std::string packed_;
};

}  // namespace weir::store::redis
