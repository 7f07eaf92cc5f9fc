// The commands between MULTI and EXEC, kept until they are run. Bounded: what does not fit spoils the transaction, and
// EXEC runs none of it. One per connection that has sent MULTI; not thread-safe.
//
// All transactions of a server share one budget of memory. The first few KiB of each are free, so that small ones work
// while others have used it up.
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

// Bytes that the transactions of all connections may take together. Thread-safe.
class TransactionBudget {
 public:
  static constexpr std::size_t default_bytes = std::size_t{64} << 20;

  explicit TransactionBudget(std::size_t max_bytes = default_bytes) noexcept : max_bytes_(max_bytes) {}

  // False: there are not so many left, and none were taken.
  [[nodiscard]] bool take(std::size_t bytes) noexcept {
    const std::size_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
    if (before + bytes <= max_bytes_) return true;
    give_back(bytes);
    return false;
  }
  void give_back(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
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
  static constexpr std::size_t free_bytes = 4'096;  // which the budget is not asked for

  // `max_bytes`: of all arguments together, each with what it takes to keep it.
  Transaction(std::size_t max_bytes, std::shared_ptr<TransactionBudget> budget) noexcept
      : max_bytes_(max_bytes), budget_(std::move(budget)) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() { budget_->give_back(taken_); }

  // But for `kept`, the transaction is spoilt, and keeps nothing.
  enum class Added : std::uint8_t { kept, too_long, no_memory };
  [[nodiscard]] Added add(Arguments command);
  void spoil() noexcept;
  [[nodiscard]] bool spoilt() const noexcept { return spoilt_; }

  // Runs once: begin(), then current() and advance() for as long as there is one.
  void begin() noexcept { running_ = true; }
  [[nodiscard]] bool running() const noexcept { return running_; }
  [[nodiscard]] std::size_t size() const noexcept { return counts_.size(); }
  [[nodiscard]] bool over() const noexcept { return next_ == counts_.size(); }
  // Views of bytes(), which stay where they are until the transaction goes; the span itself until advance().
  [[nodiscard]] Arguments current();
  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
  void advance() noexcept;

 private:
  [[nodiscard]] bool take_for(std::size_t bytes) noexcept;

  const std::size_t max_bytes_;
  const std::shared_ptr<TransactionBudget> budget_;
  std::size_t taken_ = 0;              // of the budget
  std::string bytes_;                  // all arguments, one behind the other
  std::vector<std::uint32_t> ends_;    // of each argument in them
  std::vector<std::uint32_t> counts_;  // of the arguments of each command
  bool spoilt_ = false;
  bool running_ = false;

  std::size_t next_ = 0;           // command
  std::size_t next_argument_ = 0;  // its first
  std::vector<std::string_view> current_;
};

}  // namespace weir::frontend
