// The commands between MULTI and EXEC, kept until they are run. Bounded: what does not fit spoils the transaction, and
// EXEC runs none of it. One per connection that has sent MULTI; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::frontend {

class Transaction {
 public:
  using Arguments = std::span<const std::string_view>;

  static constexpr std::size_t most_commands = 4'096;

  // `most_bytes`: of all arguments together, each with what it takes to keep it.
  explicit Transaction(std::size_t most_bytes) noexcept : most_bytes_(most_bytes) {}

  // False: it does not fit, and the transaction is spoilt. A spoilt one keeps nothing.
  [[nodiscard]] bool add(Arguments command);
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
  const std::size_t most_bytes_;
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
