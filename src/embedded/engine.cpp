#include "weir/engine.h"

#include <algorithm>
#include <utility>

#include "embedded/engine_body.h"
#include "embedded/policy_body.h"
#include "match/descriptors.h"
#include "match/named.h"
#include "table/hash_key.h"

namespace weir {
namespace {

// Bounds the memory that a batch keeps for the next one.
constexpr std::size_t max_batch_size = 64;

engine::Engine::Options engine_options(const Engine::Options& options) {
  engine::Engine::Options made;
  made.memory_budget = options.memory_budget;
  made.hash_key = table::HashKey::random();
  return made;
}

std::shared_ptr<const Clock> clock_of(const Engine::Options& options) {
  return options.clock ? options.clock : std::make_shared<const WallClock>();
}

std::uint64_t count_of(const engine::EventTotals& totals, engine::Event event) noexcept {
  return totals[static_cast<std::size_t>(event)];
}

}  // namespace

Engine::Engine(std::unique_ptr<Body> body) noexcept : body_(std::move(body)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Result<Engine> Engine::create(const Policy& policy) {
  return create(policy, Options());
}

Result<Engine> Engine::create(const Policy& policy, Options options) {
  return embedded::guarded([&]() -> Result<Engine> {
    auto made = engine::Engine::create(policy.body_->ruleset, engine_options(options));
    if (!made) return tl::unexpected(std::move(made.error()));
    return Engine(std::make_unique<Body>(clock_of(options), std::move(*made)));
  });
}

Result<Engine::Restored> Engine::restore(const Policy& policy, const std::filesystem::path& directory,
                                         Options options) {
  return embedded::guarded([&]() -> Result<Restored> {
    auto clock = clock_of(options);
    auto made = engine::Engine::restore(policy.body_->ruleset, engine_options(options), directory, clock->now());
    if (!made) return tl::unexpected(std::move(made.error()));
    return Restored{Engine(std::make_unique<Body>(std::move(clock), std::move(made->engine))),
                    std::move(made->problems)};
  });
}

Result<void> Engine::save(const std::filesystem::path& directory) {
  return embedded::guarded([&] { return body_->engine->save(directory, body_->clock->now()); });
}

Result<void> Engine::reload(const Policy& policy) {
  return embedded::guarded([&] { return body_->engine->reload(policy.body_->ruleset, *body_->clock); });
}

Verdict Engine::evaluate(const Query& query) {
  return body_->evaluate([&](auto& batch) { batch.add(query); },
                         [](const auto& batch, const auto& names) {
                           Verdict verdict;
                           embedded::VerdictAccess::fill(verdict, batch, 0, names);
                           return verdict;
                         },
                         embedded::VerdictAccess::no_memory());
}

// A reload may take effect between two parts of a batch, just as it may between two requests.
void Engine::evaluate(std::span<const Query> queries, std::span<Verdict> verdicts) {
  std::size_t count = std::min(queries.size(), verdicts.size());
  for (std::size_t first = 0; first < count; first += max_batch_size) {
    const std::size_t part = std::min(max_batch_size, count - first);
    const bool evaluated = body_->evaluate(
        [&](auto& batch) {
          for (const Query& query : queries.subspan(first, part)) batch.add(query);
        },
        [&](const auto& batch, const auto& names) {
          for (std::size_t i = 0; i < part; ++i) embedded::VerdictAccess::fill(verdicts[first + i], batch, i, names);
          return true;
        },
        false);
    if (!evaluated) std::ranges::fill(verdicts.subspan(first, part), embedded::VerdictAccess::no_memory());
  }
}

Result<Verdict> Engine::evaluate_limit(const LimitQuery& query) {
  return body_->evaluate(
      [&](auto& batch) {
        batch.add(match::NamedQuery{.limit = query.limit,
                                    .consumer = query.consumer,
                                    .tier = query.tier,
                                    .cost = query.cost,
                                    .max_wait = query.max_wait,
                                    .peek = query.peek,
                                    .wants_more_after = true});
      },
      [](const auto& batch, const auto& names) -> Result<Verdict> {
        if (const Error* const error = batch.error(0)) return tl::unexpected(*error);
        Verdict verdict;
        embedded::VerdictAccess::fill(verdict, batch, 0, names);
        return verdict;
      },
      Result<Verdict>(embedded::VerdictAccess::no_memory()));
}

Verdict Engine::evaluate_descriptors(std::string_view domain, std::span<const Descriptor> descriptors) {
  std::vector<match::DescriptorQuery> asks;
  return body_->evaluate(
      [&](auto& batch) {
        for (const auto& [entries, hits] : descriptors) {
          asks.push_back({.entries = entries, .hits = hits, .limit_override = {}});
        }
        batch.add(domain, asks);
      },
      [](const auto& batch, const auto& names) {
        Verdict verdict;
        embedded::VerdictAccess::fill_descriptors(verdict, batch, 0, names);
        return verdict;
      },
      embedded::VerdictAccess::no_memory());
}

Result<void> Engine::reset(std::string_view limit, std::string_view consumer) {
  return body_->evaluate(
      [&](auto& batch) {
        batch.add_reset(match::NamedQuery{.limit = limit, .consumer = consumer, .one_meaning = true});
      },
      [](const auto& batch, const auto& /*names*/) -> Result<void> {
        if (const Error* const error = batch.error(0)) return tl::unexpected(*error);
        return {};
      },
      Result<void>(failure("engine", "out of memory")));
}

std::vector<Engine::Counts> Engine::counts() const {
  return embedded::guarded(
      [&] {
        using engine::Event;
        std::vector<Counts> counts;
        for (const auto& [key, totals] : body_->engine->totals().by_limit_and_route) {
          counts.push_back({.limit = key.first,
                            .route = key.second,
                            .admitted = count_of(totals, Event::admitted),
                            .denied = count_of(totals, Event::denied),
                            .blocked = count_of(totals, Event::blocked),
                            .warned = count_of(totals, Event::warned),
                            .uncharged = count_of(totals, Event::uncharged),
                            .would_deny = count_of(totals, Event::shadow_denied),
                            .without_key = count_of(totals, Event::skipped),
                            .shared_key = count_of(totals, Event::shared),
                            .unlimited = count_of(totals, Event::unlimited),
                            .candidate_agrees = count_of(totals, Event::candidate_agrees),
                            .candidate_newly_denied = count_of(totals, Event::candidate_newly_denied),
                            .candidate_newly_admitted = count_of(totals, Event::candidate_newly_admitted)});
        }
        return counts;
      },
      std::vector<Counts>());
}

Engine::Usage Engine::usage() const {
  const auto bindings = body_->engine->bindings();
  return {.bytes = bindings->tables().bytes_used(), .overflowed = bindings->tables().overflowed()};
}

}  // namespace weir
