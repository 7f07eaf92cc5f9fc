// Asks of limits that are mostly or always decided in this process: leased or approximate ones, or those of the local
// store. In batches, as a loop has them that reads many connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "core/rule.h"
#include "net/loop.h"
#include "redis/load.h"
#include "store/leased/leased_store.h"
#include "store/local/local_store.h"
#include "store/shared/shared_terms.h"
#include "store/store.h"

namespace weir::bench {

class LeasedLoad final : public Load {
 public:
  enum class Kind : std::uint8_t { leased, approximate, local };

  // `inner` stays longer.
  LeasedLoad(net::Loop& loop, store::Store& inner, Kind kind);

  // hot_key: one key. distinct_keys: 100,000, asked for by Zipf's law with exponent 1.1. In batches of 64.
  void begin(Work work, std::size_t under_way) override;
  void end() override { ending_ = true; }

  // How long decisions took, one at a time, in nanoseconds; on the loop's thread.
  [[nodiscard]] std::vector<double> times_of(std::size_t decisions);

  // Of all decisions, those that needed no trip.
  [[nodiscard]] double share_without_trip() const noexcept;

  // Of all decisions so far on approximate limits. Of others a denial is a failure.
  [[nodiscard]] double share_denied() const noexcept;

 private:
  static constexpr std::size_t batch_size = 64;
  struct Batch final : store::Callback {
    explicit Batch(LeasedLoad& its_load);
    virtual ~Batch() = default;
    void answered(store::Group& group) override;

    LeasedLoad& load;
    std::deque<store::Group> groups;
    std::vector<store::Group*> pointers;
    std::size_t waiting = 0;
  };

  void submit(Batch& batch);
  void submit_later(Batch& batch);
  [[nodiscard]] std::uint32_t next_user() noexcept;

  void prepare(store::Group& group);

  net::Loop& loop_;
  const Kind kind_;
  core::Rule rule_;
  std::shared_ptr<store::SliceTable> slices_;
  std::unique_ptr<table::Table> table_;
  store::LeasedStore leased_;
  store::LocalStore local_;
  store::Store& store_;
  store::SharedTerms terms_;
  store::States states_;
  Work work_ = Work::hot_key;
  bool ending_ = false;
  std::deque<Batch> batches_;
  std::vector<std::uint32_t> drawn_;  // users by Zipf's law
  std::size_t position_ = 0;
  std::uint64_t on_slices_ = 0;
  std::uint64_t decided_ = 0;
  std::uint64_t denied_ = 0;
};

}  // namespace weir::bench
