// Messages about slices, like background renewals: each node has a slice of each key, keeps half of it and requests the
// same amount again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/rule.h"
#include "redis/load.h"
#include "store/redis/redis_store.h"
#include "store/store.h"

namespace weir::bench {

class SliceLoad final : public Load, private store::Callback {
 public:
  static constexpr std::size_t keys = 64;

  SliceLoad(store::redis::RedisStore& store, std::uint64_t holders);

  // Uses one key per request in flight, regardless of `work`.
  void begin(Work work, std::size_t under_way) override;
  void end() override { ending_ = true; }

  // True when every node has a slice of every key.
  [[nodiscard]] bool is_filled() const noexcept { return Load::answered() >= keys * holders_; }

 private:
  struct Message final : store::Group {
    store::SliceExchange exchange;
    store::CheckExtension extension{.exchange = &exchange};
    std::size_t key = 0;
  };

  void answered(store::Group& group) override;
  void submit(Message& message);

  store::redis::RedisStore& store_;
  const std::uint64_t holders_;
  core::Rule rule_;
  bool ending_ = false;
  std::uint64_t sent_ = 0;
  std::deque<Message> messages_;
};

}  // namespace weir::bench
