// Messages about slices, as background renewals are: each of some nodes holds a slice of each of some keys, keeps half
// of it and asks for as much again.
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

  // Of one key for each that is under way, whatever the work is.
  void begin(Work work, std::size_t under_way) override;
  void end() override { ending_ = true; }

  // Every node holds a slice of every key.
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
