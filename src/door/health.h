// Whether the server takes requests: said by all doors alike. Written by its owner, read from any thread.
#pragma once

#include <atomic>

namespace weir::door {

class Health {
 public:
  [[nodiscard]] bool serving() const noexcept { return serving_.load(std::memory_order_relaxed); }
  void set_serving(bool serving) noexcept { serving_.store(serving, std::memory_order_relaxed); }

 private:
  std::atomic<bool> serving_ = true;
};

}  // namespace weir::door
