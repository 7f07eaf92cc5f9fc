#include "engine/hearing.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>
#include <utility>

#include "engine/judge_shared.h"
#include "engine/shared_commands.h"
#include "engine/shared_consumer.h"
#include "engine/shared_descriptors.h"
#include "engine/shared_judgement.h"

namespace weir::engine {

// One question, with room for whichever kind it is.
class Hearing::Item {
 public:
  enum class Kind : std::uint8_t { query, named, descriptors, throttle, reset, reset_descriptor };

  explicit Item(Hearing& hearing)
      : owner_(hearing), store_(*hearing.judge_.shared_->store), room_(hearing.judge_.shared_->room) {}

  Kind kind = Kind::query;
  Query query;
  NamedAsk named;
  DescriptorName descriptor;
  std::string_view text;  // a domain, or a key
  std::vector<DescriptorAsk> asks;
  core::Gcra::Limit limit;
  Cost quantity{1};

  Result<Verdict> verdict;
  Result<void> reset;
  std::string consumer;

  void begin(Judge& judge, const Plan& plan) {
    switch (kind) {
      case Kind::query:
        judge.finder_->find(query, judgement().coverage);
        return judgement_->begin(plan, query.peek);
      case Kind::named:
        return begin_named(judge, plan);
      case Kind::descriptors:
        if (!descriptors_) descriptors_ = std::make_unique<SharedDescriptors>(store_, owner_, room_);
        return descriptors_->begin(plan, text, asks);
      case Kind::throttle:
        if (!throttle_) throttle_ = std::make_unique<SharedThrottle>(store_, owner_, room_);
        return throttle_->begin(plan, text, limit, quantity);
      case Kind::reset:
        return begin_reset(judge, plan);
      case Kind::reset_descriptor:
        return begin_descriptor_reset(judge, plan);
    }
  }

  // All is answered: what there is to say.
  void finish(Judge& judge, const Plan& plan, bool counts, Instant now) {
    if (kind == Kind::query || (kind == Kind::named && verdict)) finish_verdict(judge, plan, counts, now);
    if ((kind == Kind::reset || kind == Kind::reset_descriptor) && reset) reset = reset_->result();
    if (kind == Kind::descriptors && counts) count_descriptors(judge, plan);
  }

  void tell(Judge& judge, Witness& witness, Instant now) {
    if (kind == Kind::query) witness.judged(judge, {&query, 1}, {&*verdict, 1}, now);
    if (kind == Kind::named) witness.judged_by_name(judge, {&named, 1}, {&verdict, 1}, now);
    if (kind == Kind::descriptors) {
      const DescriptorVerdict told{text, asks, descriptors_->statuses(), descriptors_->admitted()};
      witness.judged(judge, {&told, 1}, now);
    }
  }

  [[nodiscard]] const SharedDescriptors& descriptors() const noexcept { return *descriptors_; }
  [[nodiscard]] const SharedThrottle& throttle() const noexcept { return *throttle_; }

 private:
  SharedJudgement& judgement() {
    if (!judgement_) judgement_ = std::make_unique<SharedJudgement>(store_, owner_, room_);
    return *judgement_;
  }

  void begin_named(Judge& judge, const Plan& plan) {
    verdict = Verdict{};
    consumer.clear();
    if (auto found = judge.named_finder_->find(named, judgement().coverage); !found) {
      verdict = tl::unexpected(std::move(found.error()));
      return owner_.ended(*judgement_);
    }
    consumer = judge.consumer_of(named);
    judgement_->begin(plan, named.peek);
  }

  void begin_reset(Judge& judge, const Plan& plan) {
    if (!reset_) reset_ = std::make_unique<SharedReset>(store_, owner_);
    const auto found = judge.named_finder_->read(named);
    if (!found) {
      reset = tl::unexpected(found.error());
      return owner_.ended(*reset_);
    }
    consumer = found->key;
    std::ignore = judge.reset(named, room_.clock.now());  // what this process counts while the store is away
    reset = {};
    std::string text_of_consumer;
    append_shared_consumer(text_of_consumer, consumer);
    reset_->begin(plan, plan.limits()[found->limit], text_of_consumer);
  }

  void begin_descriptor_reset(Judge& judge, const Plan& plan) {
    if (!reset_) reset_ = std::make_unique<SharedReset>(store_, owner_);
    std::string key;
    const auto found = find_descriptor(plan.ruleset(), descriptor, key);
    if (!found) {
      reset = tl::unexpected(found.error());
      return owner_.ended(*reset_);
    }
    std::ignore = judge.reset(descriptor, room_.clock.now());
    reset = {};
    if (!(*found)->limit) return owner_.ended(*reset_);  // it is not limited, so that nothing is counted
    std::string text_of_descriptor;
    append_shared_descriptor(text_of_descriptor, key);
    reset_->begin(plan, plan.limits()[*(*found)->limit], text_of_descriptor);
  }

  void finish_verdict(Judge& judge, const Plan& plan, bool counts, Instant now) {
    const Coverage& coverage = judgement_->coverage;
    verdict = judgement_->verdict();
    verdict->outcomes = judgement_->outcomes();
    verdict->label = coverage.label;
    verdict->route = plan.labels()[coverage.label];
    verdict->tier = coverage.caller.tier;
    const bool peek = kind == Kind::query ? query.peek : named.peek;
    if (counts && !peek) judge.count(coverage, *verdict, now);
  }

  void count_descriptors(Judge& judge, const Plan& plan) {
    for (std::size_t i = 0; i < asks.size(); ++i) {
      judge.count_descriptor(plan, descriptors_->limit_of(i), asks[i], descriptors_->statuses()[i],
                             descriptors_->admitted());
    }
  }

  SharedCase::Owner& owner_;
  store::SharedStore& store_;
  SharedRoom& room_;
  std::unique_ptr<SharedJudgement> judgement_;
  std::unique_ptr<SharedDescriptors> descriptors_;
  std::unique_ptr<SharedThrottle> throttle_;
  std::unique_ptr<SharedReset> reset_;
};

Hearing::Hearing(Judge& judge) : judge_(judge) {}

Hearing::~Hearing() = default;

void Hearing::clear() noexcept {
  used_ = 0;
  plan_.reset();
  abandoned_ = false;
}

Hearing::Item& Hearing::new_item() {
  if (used_ == items_.size()) items_.push_back(std::make_unique<Item>(*this));
  return *items_[used_++];
}

void Hearing::add(const Query& query) {
  Item& item = new_item();
  item.kind = Item::Kind::query;
  item.query = query;
}

void Hearing::add(const NamedAsk& ask) {
  Item& item = new_item();
  item.kind = Item::Kind::named;
  item.named = ask;
}

void Hearing::add(std::string_view domain, std::span<const DescriptorAsk> asks) {
  Item& item = new_item();
  item.kind = Item::Kind::descriptors;
  item.text = domain;
  item.asks.assign(asks.begin(), asks.end());
}

void Hearing::add_reset(const NamedAsk& ask) {
  Item& item = new_item();
  item.kind = Item::Kind::reset;
  item.named = ask;
}

void Hearing::add_descriptor_reset(const DescriptorName& name) {
  Item& item = new_item();
  item.kind = Item::Kind::reset_descriptor;
  item.descriptor = name;
}

void Hearing::add_throttle(std::string_view key, const core::Gcra::Limit& limit, Cost quantity) {
  Item& item = new_item();
  item.kind = Item::Kind::throttle;
  item.text = key;
  item.limit = limit;
  item.quantity = quantity;
}

void Hearing::begin(std::function<void()> done) {
  const auto held = judge_.hold();
  plan_ = judge_.plan_;
  begun_ = judge_.witness_ == nullptr ? std::chrono::nanoseconds{} : judge_.witness_->begin();
  over_ = false;
  self_ = shared_from_this();
  open_ = used_ + 1;  // one more: it is not over before all have begun
  for (std::size_t i = 0; i < used_; ++i) items_[i]->begin(judge_, *plan_);
  if (--open_ == 0) {
    conclude();
  } else {
    done_ = std::move(done);
  }
}

// Who waits is told without the hold: what he does then may take other locks, or long.
void Hearing::answered(SharedCase& answered) {
  const auto self = shared_from_this();
  {
    const auto held = judge_.hold();
    answered.advance();
  }
  if (!over_) return;
  if (const auto done = std::exchange(done_, nullptr)) done();
}

void Hearing::ended(SharedCase& /*ended*/) {
  if (--open_ == 0) conclude();
}

void Hearing::conclude() {
  const auto self = std::move(self_);
  const bool counts = judge_.plan_ == plan_;
  const Instant now = judge_.shared_->room.clock.now();
  for (std::size_t i = 0; i < used_; ++i) items_[i]->finish(judge_, *plan_, counts, now);
  if (counts && !abandoned_ && judge_.witness_ != nullptr) {
    for (std::size_t i = 0; i < used_; ++i) {
      judge_.witness_->resume(begun_);
      items_[i]->tell(judge_, *judge_.witness_, now);
    }
  }
  over_ = true;
}

void Hearing::abandon() noexcept {
  abandoned_ = true;
  done_ = nullptr;
}

const Result<Verdict>& Hearing::verdict(std::size_t i) const noexcept {
  return items_[i]->verdict;
}

std::string_view Hearing::consumer(std::size_t i) const noexcept {
  return items_[i]->consumer;
}

std::span<const DescriptorStatus> Hearing::statuses(std::size_t i) const noexcept {
  return items_[i]->descriptors().statuses();
}

bool Hearing::admitted(std::size_t i) const noexcept {
  return items_[i]->descriptors().admitted();
}

const Decision* Hearing::decision(std::size_t i) const noexcept {
  const auto& decision = items_[i]->throttle().decision();
  return decision ? &*decision : nullptr;
}

const Result<void>& Hearing::reset(std::size_t i) const noexcept {
  return items_[i]->reset;
}

Instant Hearing::judged_at(std::size_t i) const noexcept {
  const Item& item = *items_[i];
  switch (item.kind) {
    case Item::Kind::query:
    case Item::Kind::named:
      return item.verdict ? item.verdict->at : Instant{};
    case Item::Kind::descriptors:
      return item.descriptors().at();
    case Item::Kind::throttle:
      return item.throttle().at();
    case Item::Kind::reset:
    case Item::Kind::reset_descriptor:
      break;
  }
  return {};
}

}  // namespace weir::engine
