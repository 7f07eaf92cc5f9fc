// The descriptors of one request judged on a shared store, all or nothing; then its shadow limits. As
// DescriptorJudgement does on tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/descriptor_judgement.h"
#include "engine/descriptor_parts.h"
#include "engine/shared_case.h"
#include "engine/shared_judgement.h"

namespace weir::engine {

class SharedDescriptors final : public SharedCase {
 public:
  SharedDescriptors(store::SharedStore& store, Owner& owner, SharedRoom& room) noexcept
      : SharedCase(store, owner), room_(room) {}

  // Nothing is known of a domain that the policy does not have.
  void begin(const Plan& plan, std::string_view domain, std::span<const DescriptorAsk> asks);

  // When it has ended.
  [[nodiscard]] std::span<const DescriptorStatus> statuses() const noexcept { return statuses_; }
  [[nodiscard]] bool admitted() const noexcept { return admitted_; }
  [[nodiscard]] Instant at() const noexcept { return at_; }
  [[nodiscard]] std::uint32_t limit_of(std::size_t i) const noexcept { return parts_[i].limit; }

 private:
  enum class Stage : std::uint8_t { live, followers, refunds };

  bool step() override;

  void add_asked(std::size_t i, store::SharedAsk& ask);
  void judge_bans();
  void ask_live();
  void read_live();
  [[nodiscard]] bool every_quota_is_full() const noexcept;
  [[nodiscard]] bool drop_full_quotas();
  void judge_locally();
  void ask_followers();
  void read_followers();
  void ask_refunds();
  void follow_locally(std::size_t i) noexcept;
  [[nodiscard]] core::Rule local_rule(std::size_t i) const noexcept;
  [[nodiscard]] std::uint64_t take_owed(std::size_t i) noexcept;

  SharedRoom& room_;
  const Plan* plan_ = nullptr;
  Stage stage_ = Stage::live;
  bool over_ = false;
  DescriptorParts parts_;
  std::vector<DescriptorStatus> statuses_;
  std::vector<std::uint32_t> subjects_;  // which descriptors are asked about in this step
  std::vector<bool> full_;               // quotas that are over
  bool denied_ = false;                  // by a ban: the others are looked at
  bool admitted_ = true;
  Instant at_{};
};

}  // namespace weir::engine
