#include "policy_test/mutants.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "core/rule.h"
#include "policy/tools/strictness.h"
#include "policy/vocabulary.h"
#include "policy/words.h"

namespace weir::policy_test {
namespace {

using policy::CompiledLimit;
using policy::ConsumerKey;
using policy::KeyPart;
using policy::Ruleset;

// A change to the numbers of a limit: nothing if the new numbers are invalid.
using NewNumbers = std::optional<Limit>;

NewNumbers valid(Result<Limit> limit) {
  return limit ? NewNumbers(*limit) : std::nullopt;
}

// The same algorithm with other numbers. A bucket has its capacity as burst, a queue one more than its queue.
NewNumbers renumbered(const Limit& old, std::uint64_t capacity, Rate rate) {
  if (capacity == 0) return {};
  switch (old.algorithm()) {
    case Algorithm::token_bucket:
      return valid(Limit::token_bucket({rate, capacity}));
    case Algorithm::gcra:
      return valid(Limit::gcra({rate, capacity}));
    case Algorithm::leaky_bucket_meter:
      return valid(Limit::leaky_bucket(BucketNumbers{rate, capacity}));
    case Algorithm::leaky_bucket_queue:
      return valid(Limit::leaky_bucket(QueueNumbers{rate, capacity - 1}));
    case Algorithm::fixed_window:
      if (old.calendar() != nullptr) return valid(Limit::fixed_window(capacity, *old.calendar()));
      return valid(Limit::fixed_window({capacity, rate.per}));
    case Algorithm::sliding_window_log:
      return valid(Limit::sliding_window_log({capacity, rate.per}));
    case Algorithm::sliding_window_counter:
      return valid(Limit::sliding_window_counter({capacity, rate.per}));
    case Algorithm::concurrency:
      return valid(Limit::concurrency({capacity, rate.per}));
  }
  return {};
}

// Another algorithm with the same numbers, which admits as much to an idle consumer but not later.
NewNumbers other_algorithm(const Limit& old) {
  const WindowNumbers window{old.capacity(), old.rate().per};
  switch (old.algorithm()) {
    case Algorithm::fixed_window:
      return old.calendar() != nullptr ? valid(Limit::fixed_window(window)) : valid(Limit::sliding_window_log(window));
    case Algorithm::sliding_window_log:
      return valid(Limit::sliding_window_counter(window));
    case Algorithm::sliding_window_counter:
      return valid(Limit::fixed_window(window));
    case Algorithm::leaky_bucket_queue:
      return valid(Limit::leaky_bucket(BucketNumbers{old.rate(), old.capacity()}));
    case Algorithm::concurrency:
      return {};
    default:
      return valid(Limit::fixed_window({old.capacity(), core::time_to_fill(old)}));
  }
}

bool is_bucket_of(const Limit& limit) noexcept {
  return limit.algorithm() < Algorithm::fixed_window;
}

// One request that the limit covers, as a test writes it.
std::string request_for(const CompiledLimit& limit) {
  return limit.routes.empty() ? "any request" : limit.routes.front().text();
}

class MutantMaker {
 public:
  MutantMaker(const Ruleset& original, const std::function<void(Mutant)>& use) : original_(original), use_(use) {}

  void make_all() {
    for (number_ = 0; number_ < original_.limits.size(); ++number_) {
      if (limit().by_descriptor()) continue;
      remove_limit();
      change_numbers();
      change_routes();
      change_key();
      change_rest();
      change_cost();
    }
  }

 private:
  [[nodiscard]] const CompiledLimit& limit() const { return original_.limits[number_]; }

  // Copies the policy, lets `change` change the limit, and hands the mutant on.
  template <class Change>
  void make(std::string text, std::string missing_test, Change change) {
    auto copy = std::make_shared<Ruleset>(original_);
    change(copy->limits[number_]);
    use_({number_, std::move(text), std::move(missing_test), std::move(copy)});
  }

  void remove_limit() {
    auto copy = std::make_shared<Ruleset>(original_);
    copy->limits.erase(copy->limits.begin() + number_);
    use_({number_, "the limit is removed",
          fmt::format("send {} and expect covered_by to name {}", request_for(limit()), limit().name),
          std::move(copy)});
  }

  // --- numbers

  // Tiers with the same numbers change together: they were written once.
  void change_numbers() {
    std::vector<Limit> done;
    for (std::size_t tier = 0; tier < limit().live.by_tier.size(); ++tier) {
      const auto& numbers = limit().live.by_tier[tier];
      if (!numbers || std::ranges::find(done, *numbers) != done.end()) continue;
      done.push_back(*numbers);
      change_numbers_of(*numbers, tier);
    }
    change_terms_of_tiers();
  }

  void change_numbers_of(const Limit& old, std::size_t tier) {
    const std::string in_tier = tier == 0 ? "" : fmt::format(" in tier {}", original_.tiers.names[tier]);
    const std::string exceed =
        fmt::format("send {} {} times{} as one consumer, and expect {{ admitted: {}, denied_by: {} }}",
                    request_for(limit()), old.capacity() + 1, in_tier, old.capacity(), limit().name);
    const std::string wait =
        fmt::format("exceed {}{}, and expect the retry_after, or send again after it", limit().name, in_tier);
    replace(old, renumbered(old, old.capacity() + 1, old.rate()), in_tier, exceed);
    replace(old, renumbered(old, old.capacity() - 1, old.rate()), in_tier, exceed);
    if (old.calendar() == nullptr) {
      const Rate rate = old.rate();
      const bool is_bucket = is_bucket_of(old);
      const Rate faster = is_bucket ? Rate{rate.count * 11, rate.per * 10} : Rate{rate.count, rate.per / 2};
      const Rate slower = is_bucket ? Rate{rate.count * 9, rate.per * 10} : Rate{rate.count, rate.per * 2};
      replace(old, renumbered(old, old.capacity(), faster), in_tier, wait);
      replace(old, renumbered(old, old.capacity(), slower), in_tier, wait);
    }
    change_algorithm(old, in_tier);
  }

  void replace(const Limit& old, const NewNumbers& numbers, std::string_view in_tier, const std::string& missing_test) {
    if (!numbers) return;
    const std::string text =
        fmt::format("{} -> {}{}", policy::numbers_text(old), policy::numbers_text(*numbers), in_tier);
    make(text, missing_test, [&](CompiledLimit& changed) {
      for (auto& each : changed.live.by_tier) {
        if (each == old) each = numbers;
      }
    });
  }

  // All tiers of a limit have one algorithm.
  void change_algorithm(const Limit& old, std::string_view in_tier) {
    if (!in_tier.empty()) return;
    const NewNumbers first = other_algorithm(old);
    if (!first) return;
    const std::string missing = fmt::format(
        "exceed {}, send again after half of its window and after a whole one, and expect what is admitted then",
        limit().name);
    make(fmt::format("algorithm {} -> {}", name_of(old.algorithm()), name_of(first->algorithm())), missing,
         [&](CompiledLimit& changed) {
           for (auto& each : changed.live.by_tier) {
             if (each) each = other_algorithm(*each);
           }
         });
  }

  // Each tier with its own terms gets those of the default tier.
  void change_terms_of_tiers() {
    for (std::size_t tier = 1; tier < limit().live.by_tier.size(); ++tier) {
      if (policy::terms_of(limit().live, tier) == policy::terms_of(limit().live, 0)) continue;
      const std::string& name = original_.tiers.names[tier];
      make(fmt::format("tier {} has the numbers of the default tier", name),
           fmt::format("send {} in tier {}, and expect the tier's own numbers", request_for(limit()), name),
           [&](CompiledLimit& changed) {
             changed.live.by_tier[tier] = changed.live.by_tier[0];
             if (!changed.live.banned.empty()) changed.live.banned[tier] = changed.live.banned[0];
             if (!changed.live.rates.empty()) changed.live.rates[tier] = changed.live.rates[0];
             if (changed.cost.header) changed.cost.header->max_by_tier[tier] = changed.cost.header->max_by_tier[0];
           });
    }
  }

  // --- routes

  void change_routes() {
    const auto& routes = limit().routes;
    if (routes.empty()) return;
    make("covers every request",
         fmt::format("send a request outside of the routes of {}, and expect covered_by without it", limit().name),
         [](CompiledLimit& changed) { changed.routes.clear(); });
    for (std::size_t i = 0; i < routes.size(); ++i) {
      if (routes.size() > 1) {
        make("without route " + routes[i].text(),
             fmt::format("send {} and expect covered_by to name {}", routes[i].text(), limit().name),
             [&](CompiledLimit& changed) { changed.routes.erase(changed.routes.begin() + static_cast<long>(i)); });
      }
      if (routes[i].method) {
        make(fmt::format("route {} with any method", routes[i].text()),
             fmt::format("send another method to this path, and expect covered_by without {}", limit().name),
             [&](CompiledLimit& changed) { changed.routes[i].method.reset(); });
      }
      if (routes[i].trailing_wildcard) {
        make(fmt::format("route {} without **", routes[i].text()),
             fmt::format("send a request below {}, and expect covered_by to name {}", routes[i].text(), limit().name),
             [&](CompiledLimit& changed) { changed.routes[i].trailing_wildcard = false; });
      }
    }
  }

  // --- keys

  void change_key() {
    const ConsumerKey& key = limit().consumer_key;
    const bool is_global = key == global_key();
    replace_key(is_global ? key_of_ip() : global_key());
    for (std::size_t i = 0; i < key.alternatives.size(); ++i) {
      if (key.alternatives.size() > 1) {
        ConsumerKey fewer = key;
        fewer.alternatives.erase(fewer.alternatives.begin() + static_cast<long>(i));
        replace_key(std::move(fewer));
      }
      for (std::size_t part = 0; key.alternatives[i].size() > 1 && part < key.alternatives[i].size(); ++part) {
        ConsumerKey coarser = key;
        coarser.alternatives[i].erase(coarser.alternatives[i].begin() + static_cast<long>(part));
        replace_key(std::move(coarser));
      }
    }
  }

  void replace_key(ConsumerKey key) {
    const std::string text = fmt::format("key {} -> {}", text_of(limit().consumer_key), text_of(key));
    make(text,
         fmt::format("exceed {} as one consumer and send as another, by each part of its key; expect which is admitted",
                     limit().name),
         [&](CompiledLimit& changed) { changed.consumer_key = std::move(key); });
  }

  [[nodiscard]] static ConsumerKey global_key() { return {{{KeyPart{KeyPart::Kind::global, {}}}}}; }
  [[nodiscard]] static ConsumerKey key_of_ip() { return {{{KeyPart{KeyPart::Kind::ip, {}}}}}; }

  // --- missing, when, mode

  void change_rest() {
    if (!policy::is_never_missing(limit().consumer_key)) {
      for (const policy::Missing missing : {policy::Missing::skip, policy::Missing::share, policy::Missing::deny}) {
        if (missing == limit().missing) continue;
        make(fmt::format("missing {} -> {}", name_of(limit().missing), name_of(missing)),
             fmt::format("send {} without {}, more often than {} admits", request_for(limit()),
                         text_of(limit().consumer_key), limit().name),
             [&](CompiledLimit& changed) { changed.missing = missing; });
      }
    }
    if (limit().when != policy::When{}) {
      make(fmt::format("without when: {}", text_of(limit().when)),
           fmt::format("send a request to which {} does not apply, and expect covered_by without it", limit().name),
           [](CompiledLimit& changed) { changed.when = {}; });
    }
    for (std::size_t i = 0; i < limit().except.size(); ++i) {
      const std::string route = limit().except[i].text();
      make("without except " + route, fmt::format("send {} and expect covered_by without {}", route, limit().name),
           [&](CompiledLimit& changed) { changed.except.erase(changed.except.begin() + static_cast<long>(i)); });
    }
    const bool is_shadow = limit().mode == policy::Mode::shadow;
    make(is_shadow ? "mode shadow -> enforce" : "mode enforce -> shadow",
         is_shadow
             ? fmt::format("exceed {}, and expect {{ verdict: admitted, would_deny: {} }}", limit().name, limit().name)
             : fmt::format("exceed {}, and expect denied_by: {}", limit().name, limit().name),
         [&](CompiledLimit& changed) { changed.mode = is_shadow ? policy::Mode::enforce : policy::Mode::shadow; });
  }

  // --- cost

  void change_cost() {
    const policy::CostRule& rule = limit().cost;
    if (!rule.is_written || rule.header) return;
    const auto expect_cost = [&](std::string_view what) {
      return fmt::format("send {} and expect the remaining of {}", what, limit().name);
    };
    if (rule.by_route.empty()) {
      make(fmt::format("cost {} -> {}", rule.fixed.units(), rule.fixed.units() + 1), expect_cost(request_for(limit())),
           [](CompiledLimit& changed) { changed.cost.fixed = Cost{changed.cost.fixed.units() + 1}; });
    }
    for (std::size_t i = 0; i < rule.by_route.size(); ++i) {
      const std::uint64_t units = rule.by_route[i].cost.units();
      const std::string route = rule.by_route[i].route.text();
      make(fmt::format("cost of {} {} -> {}", route, units, units + 1), expect_cost(route),
           [&](CompiledLimit& changed) { changed.cost.by_route[i].cost = Cost{units + 1}; });
    }
  }

  const Ruleset& original_;
  const std::function<void(Mutant)>& use_;
  std::uint32_t number_ = 0;
};

}  // namespace

void for_each_mutant(const Ruleset& ruleset, const std::function<void(Mutant)>& use) {
  MutantMaker(ruleset, use).make_all();
}

}  // namespace weir::policy_test
