// Alternates reserves and settlements on keys with a constant number of open receipts. A settlement refunds the oldest
// receipt, so that a refund to a bucket moves all others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/receipts.h"
#include "core/rule.h"
#include "redis/load.h"
#include "store/redis/redis_store.h"
#include "store/store.h"

namespace weir::bench {

class ReceiptLoad final : public Load, private store::Callback {
 public:
  static constexpr std::size_t keys = 4;

  enum class On : std::uint8_t { bucket, window, counter, log, concurrency };

  ReceiptLoad(store::redis::RedisStore& store, On on, std::uint64_t open);

  // Uses one key per request in flight, regardless of `work`.
  void begin(Work work, std::size_t under_way) override;
  void end() override { ending_ = true; }

  // True when every key has its number of open receipts.
  [[nodiscard]] bool is_filled() const noexcept { return Load::answered() >= keys * open_; }

 private:
  struct Question final : store::Group {
    core::ReceiptUse use;
    std::size_t key = 0;
  };

  void answered(store::Group& group) override;
  void submit(Question& question);

  store::redis::RedisStore& store_;
  const On on_;
  const std::uint64_t open_;
  core::Rule rule_;
  bool ending_ = false;
  std::uint64_t last_id_ = 0;
  std::array<std::deque<std::uint64_t>, keys> ids_;  // open, the oldest first
  std::deque<Question> questions_;
};

}  // namespace weir::bench
