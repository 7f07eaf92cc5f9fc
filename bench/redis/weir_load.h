// A load on a RedisStore.
#pragma once

#include <deque>
#include <vector>

#include "core/rule.h"
#include "redis/load.h"
#include "store/redis/redis_store.h"
#include "store/store.h"

namespace weir::bench {

[[nodiscard]] Limit limit_of(const Numbers& numbers);
[[nodiscard]] core::Rule rule_of(const Numbers& numbers);

class WeirLoad final : public Load, private store::Callback {
 public:
  explicit WeirLoad(store::redis::RedisStore& store);

  void begin(Work work, std::size_t under_way) override;
  void end() override { ending_ = true; }

 private:
  void answered(store::Group& group) override;
  void submit(store::Group& group);

  store::redis::RedisStore& store_;
  core::Rule user_;
  core::Rule many_;
  Keys keys_{"weir:"};
  Work work_ = Work::distinct_keys;
  bool ending_ = false;
  std::deque<store::Group> asks_;
};

}  // namespace weir::bench
