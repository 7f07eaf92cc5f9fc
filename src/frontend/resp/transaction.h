// The commands between MULTI and EXEC of one connection. Their size is bounded: a command that does not fit aborts the
// transaction, and EXEC runs none of it. Not thread-safe.
//
// All transactions of a server share one memory budget. The first few KiB of each are free, so that small transactions
// work while the budget is exhausted.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::frontend {

// The memory budget for the transactions of all connections. Thread-safe.
class TransactionBudget {
 public:
  static constexpr std::size_t default_bytes = std::size_t{64} << 20;

  explicit TransactionBudget(std::size_t max_bytes = default_bytes) noexcept : max_bytes_(max_bytes) {}

  // Returns false and takes nothing if fewer bytes remain.
  [[nodiscard]] bool take(std::size_t bytes) noexcept {
    const std::size_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
    if (before + bytes <= max_bytes_) return true;
    release(bytes);
    return false;
  }
  void release(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t max_bytes() const noexcept { return max_bytes_; }

 private:
  const std::size_t max_bytes_;
  std::atomic<std::size_t> used_ = 0;
};

class Transaction {
 public:
  using Arguments = std::span<const std::string_view>;

  static constexpr std::size_t max_commands = 4'096;
  static constexpr std::size_t free_bytes = 4'096;  // not taken from the budget

  // `max_bytes` bounds the arguments, including the overhead of each.
  Transaction(std::size_t max_bytes, std::shared_ptr<TransactionBudget> budget) noexcept
      : max_bytes_(max_bytes), budget_(std::move(budget)) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() { budget_->release(taken_); }

  // Unless the result is `queued`, the transaction is aborted and its commands are dropped.
  enum class Added : std::uint8_t { queued, too_long, no_memory };
  [[nodiscard]] Added add(Arguments command);
  void abort() noexcept;
  [[nodiscard]] bool aborted() const noexcept { return aborted_; }

  // Runs once: begin(), then current() and advance() until done().
  void begin() noexcept { running_ = true; }
  [[nodiscard]] bool running() const noexcept { return running_; }
  [[nodiscard]] std::size_t size() const noexcept { return counts_.size(); }
  [[nodiscard]] bool done() const noexcept { return next_ == counts_.size(); }
  // The views are valid for the lifetime of the transaction, the span until advance().
  [[nodiscard]] Arguments current();
  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
  void advance() noexcept;

 private:
  [[nodiscard]] bool take_for(std::size_t bytes) noexcept;

  const std::size_t max_bytes_;
  const std::shared_ptr<TransactionBudget> budget_;
  std::size_t taken_ = 0;              // bytes taken from the budget
  std::string bytes_;                  // all arguments, concatenated
  std::vector<std::uint32_t> ends_;    // the end of each argument in bytes_
  std::vector<std::uint32_t> counts_;  // arguments per command
  bool aborted_ = false;
  bool running_ = false;

  std::size_t next_ = 0;           // the next command
  std::size_t next_argument_ = 0;  // its first argument
  std::vector<std::string_view> current_;
};

}  // namespace weir::frontend
