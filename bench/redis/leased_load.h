// A load on limits that are mostly or always decided in this process: leased, approximate, or in the local
// store. Requests come in batches, like those of a loop with many connections.
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

  // `inner` must outlive this object.
  LeasedLoad(net::Loop& loop, store::Store& inner, Kind kind);

  // hot_key: one key. distinct_keys: 100,000 keys with a Zipf distribution of exponent 1.1. In batches of 64.
  void begin(Work work, std::size_t under_way) override;
  void end() override { ending_ = true; }

  // The times of single decisions in nanoseconds. Must be called on the loop's thread.
  [[nodiscard]] std::vector<double> times_of(std::size_t decisions);

  // The decisions without a round trip.
  [[nodiscard]] double share_without_trip() const noexcept;

  // The denials of approximate limits. A denial of any other limit is a failure.
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
  std::vector<std::uint32_t> drawn_;  // users with a Zipf distribution
  std::size_t position_ = 0;
  std::uint64_t on_slices_ = 0;
  std::uint64_t decided_ = 0;
  std::uint64_t denied_ = 0;
};

}  // namespace weir::bench
