#include "overrides/resolve.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "core/calendar.h"
#include "core/instant.h"
#include "core/rule.h"
#include "match/consumer.h"
#include "match/named.h"
#include "policy/compile/numbers.h"
#include "policy/limit_fields.h"
#include "policy/route_template.h"
#include "policy/tools/strictness.h"
#include "policy/words.h"
#include "text/yaml/document.h"
#include "text/yaml/map_reader.h"

namespace weir::overrides {
namespace {

using match::Replacement;
using policy::CompiledLimit;
using text::in_quotes;

// --- numbers

// Reads the numbers with the reader of a policy, which has the rules and the messages for each field.
Result<policy::NumbersSpec> read_numbers(const CompiledLimit& limit, const Terms& terms) {
  text::Node node;
  node.kind = text::Node::Kind::map;
  for (const auto& [name, value] : terms.numbers) {
    text::Member& member = node.members.emplace_back();
    member.key.value = name;
    member.value.kind = text::Node::Kind::scalar;
    member.value.text = value;
  }
  text::Problems problems("numbers");
  text::MapReader map(node, "numbers", problems);
  policy::NumbersSpec spec;
  const policy::LimitFields fields = policy::limit_fields();
  for (const policy::LimitField& field : fields) {
    if (field.use.number) field.use.number->read(map, field.path, spec);
  }
  map.finish();
  if (spec.ban) return failure("numbers", "rate: 0 is a ban: write banned: true");
  policy::check_fields(spec, limit.algorithm, fields, problems);
  const auto found = problems.sorted();
  if (!found.empty()) return failure("numbers", found.front().message);
  return spec;
}

bool has_same_window(const Limit& a, const Limit& b) noexcept {
  if (a.algorithm() != b.algorithm()) return false;
  if (a.algorithm() < Algorithm::fixed_window || a.algorithm() == Algorithm::concurrency) return true;
  if ((a.calendar() == nullptr) != (b.calendar() == nullptr)) return false;
  return a.calendar() != nullptr ? a.calendar()->unit() == b.calendar()->unit() : a.rate().per == b.rate().per;
}

// Returns a limit of the same algorithm and window with other numbers. A bucket takes `rate` and `capacity`, the others
// `capacity` only.
Result<Limit> rebuilt(const Limit& base, Rate rate, std::uint64_t capacity) {
  switch (base.algorithm()) {
    case Algorithm::token_bucket:
      return Limit::token_bucket({rate, capacity});
    case Algorithm::gcra:
      return Limit::gcra({rate, capacity});
    case Algorithm::leaky_bucket_meter:
      return Limit::leaky_bucket(BucketNumbers{rate, capacity});
    case Algorithm::leaky_bucket_queue:
      return Limit::leaky_bucket(QueueNumbers{rate, capacity - 1});
    case Algorithm::fixed_window:
      if (base.calendar() != nullptr) return Limit::fixed_window(capacity, *base.calendar());
      return Limit::fixed_window({capacity, base.rate().per});
    case Algorithm::sliding_window_log:
      return Limit::sliding_window_log({capacity, base.rate().per});
    case Algorithm::sliding_window_counter:
      return Limit::sliding_window_counter({capacity, base.rate().per});
    case Algorithm::concurrency:
      break;
  }
  return Limit::concurrency({capacity, base.rate().per});
}

// Scales the rate exactly, and the capacity rounded down to at least 1.
Result<Limit> scaled(const Limit& base, std::uint64_t factor) {
  const std::uint64_t common = std::gcd(factor, whole_factor);
  const std::uint64_t up = factor / common;
  const std::uint64_t down = whole_factor / common;
  Rate rate = base.rate();
  std::int64_t per = 0;
  std::uint64_t count = 0;
  if (__builtin_mul_overflow(rate.count, up, &count) ||
      __builtin_mul_overflow(rate.per.count(), static_cast<std::int64_t>(down), &per)) {
    return failure("factor", "the rate cannot be kept exactly: write numbers instead");
  }
  rate = {count, Duration{per}};
  __extension__ using Wide = unsigned __int128;
  const Wide capacity = Wide{base.capacity()} * up / down;
  if (capacity > Limit::max_product) return failure("factor", "too large for this limit");
  return rebuilt(base, rate, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(capacity)));
}

// The tier whose states and numbers an override of `tier` uses: itself or, if it has no numbers, the first that has.
std::optional<std::uint32_t> states_tier(const CompiledLimit& limit, std::uint32_t tier) {
  const auto& numbers = limit.live.by_tier;
  if (numbers[tier]) return tier;
  const auto found = std::ranges::find_if(numbers, [](const auto& each) { return each.has_value(); });
  if (found == numbers.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - numbers.begin());
}

Result<Limit> tier_numbers(const CompiledLimit& limit, const Limit& base, std::uint32_t of, const Terms& terms,
                           const policy::NumbersSpec& spec) {
  if (terms.factor > 0) return scaled(base, terms.factor);
  const auto& rates = limit.live.rates;
  auto numbers = policy::replaced_numbers(base, of < rates.size() ? rates[of] : std::nullopt, limit.algorithm, spec);
  if (numbers && !has_same_window(*numbers, base)) {
    return failure("numbers", fmt::format("an override cannot change the window of limit {}, {}: that would be another "
                                          "counter; write limit, or a rate per the same window",
                                          in_quotes(limit.name), policy::rate_text(base)));
  }
  return numbers;
}

// The terms of a tier before units are granted. Grants on a limit without an override keep the tier's own terms.
Result<Replacement::Tier> resolve_tier(const CompiledLimit& limit, std::uint32_t tier, const Terms* terms,
                                       const policy::NumbersSpec& spec) {
  Replacement::Tier resolved;
  const bool has_own = limit.live.by_tier[tier].has_value();
  const bool keeps_kind = terms == nullptr || terms->factor > 0;  // a multiple of unlimited is unlimited
  if ((terms != nullptr && terms->unlimited) || (keeps_kind && !has_own && !limit.live.bans(tier))) {
    resolved.kind = Replacement::Kind::unlimited;
    return resolved;
  }
  if ((terms != nullptr && terms->banned) || (keeps_kind && limit.live.bans(tier))) {
    resolved.kind = Replacement::Kind::banned;
    return resolved;
  }
  const auto of = states_tier(limit, tier);
  if (!of) {
    return failure("numbers", "limit " + in_quotes(limit.name) + " has no numbers to replace: write unlimited: true");
  }
  resolved.states_tier = *of;
  const Limit& base = *limit.live.by_tier[*of];
  if (terms == nullptr) {
    resolved.numbers = base;
    return resolved;
  }
  const auto numbers = tier_numbers(limit, base, *of, *terms, spec);
  if (!numbers) return tl::unexpected(numbers.error());
  resolved.numbers = *numbers;
  return resolved;
}

// Compiles the rules. A bucket's state is bounded by the slowest of them: the consumer may change its tier.
void compile_rules(Replacement& replacement) {
  Duration slowest = Duration::zero();
  for (const Replacement::Tier& tier : replacement.tiers) {
    if (tier.numbers) slowest = std::max(slowest, core::time_to_fill(*tier.numbers));
  }
  for (Replacement::Tier& tier : replacement.tiers) {
    if (!tier.numbers) continue;
    tier.rule = core::compile(*tier.numbers);
    core::bound_reach(tier.rule, slowest);
  }
}

policy::Terms terms_of(const Replacement::Tier& tier) {
  return {.numbers = tier.numbers, .banned = tier.kind == Replacement::Kind::banned};
}

// True if a part of a key says who the caller is, and any client can send it.
bool is_claimable(const policy::KeyPart& part, const policy::Identity& identity) noexcept {
  using Part = policy::KeyPart::Kind;
  return part.kind == Part::header || (part.kind == Part::api_key && !identity.api_key_verified);
}

std::string cache_key(const Terms* terms, std::uint64_t granted) {
  return (terms == nullptr ? std::string("limit") : terms_text(*terms)) + " " + std::to_string(granted);
}

}  // namespace

Result<Target> find_target(const match::Matcher& matcher, const Record& record) {
  Target target;
  const match::NamedQuery ask{.limit = record.limit, .consumer = record.target, .one_meaning = true};
  const auto named = match::read_named(matcher, ask, target.key);
  if (!named) return tl::unexpected(named.error());
  if (named->is_shared) {
    return failure("consumer", "is shared by all requests without a key: change the policy instead");
  }
  target.limit = named->limit;
  target.consumer = match::describe_consumer(target.key);
  return target;
}

Result<Instant> window_end(const CompiledLimit& limit, Instant now) {
  const auto invalid = [&](std::string_view why) {
    return failure("add", fmt::format("limit {} {}: write numbers with until instead", in_quotes(limit.name), why));
  };
  if (limit.algorithm != policy::PolicyAlgorithm::fixed_window) {
    return invalid("has no window that ends (only fixed_window has)");
  }
  const Limit* first = nullptr;
  for (const auto& numbers : limit.live.by_tier) {
    if (!numbers) continue;
    if (first != nullptr && !has_same_window(*first, *numbers)) return invalid("has another window for each tier");
    first = &*numbers;
  }
  if (first == nullptr) return invalid("has no numbers");
  const std::int64_t at = core::micros(now);
  if (first->calendar() != nullptr) return core::instant_at(first->calendar()->around(at).end);
  const std::int64_t length = first->rate().per.count();
  return core::instant_at((at / length + 1) * length);
}

Result<Replacement> replacement_for(const policy::Ruleset& ruleset, std::uint32_t number, const Terms* terms,
                                    std::uint64_t granted) {
  const CompiledLimit& limit = ruleset.limits[number];
  policy::NumbersSpec spec;
  if (terms != nullptr && !terms->numbers.empty()) {
    auto read = read_numbers(limit, *terms);
    if (!read) return tl::unexpected(read.error());
    spec = std::move(*read);
  }
  Replacement replacement;
  for (std::uint32_t tier = 0; tier < ruleset.tiers.names.size(); ++tier) {
    auto resolved = resolve_tier(limit, tier, terms, spec);
    if (resolved && granted > 0 && resolved->numbers) {
      const std::uint64_t capacity = resolved->numbers->capacity();
      if (granted > Limit::max_window_limit - capacity) {
        return failure("add", "too large: the limit would exceed " + std::to_string(Limit::max_window_limit));
      }
      const auto raised = rebuilt(*resolved->numbers, resolved->numbers->rate(), capacity + granted);
      if (!raised) return failure("add", raised.error().message());
      resolved->numbers = *raised;
    }
    if (!resolved) return tl::unexpected(resolved.error());
    replacement.tiers.push_back(std::move(*resolved));
  }
  compile_rules(replacement);
  return replacement;
}

Result<void> check_trust(const policy::Ruleset& ruleset, const Target& target, const Replacement& replacement) {
  using Part = policy::KeyPart::Kind;
  const CompiledLimit& limit = ruleset.limits[target.limit];
  std::string claimed;
  bool is_trusted = false;
  match::for_each_part(target.key, [&](const policy::KeyPart& part, std::string_view /*text*/) {
    if (part.kind == Part::route || part.kind == Part::global) return;
    if (is_claimable(part, ruleset.identity)) {
      claimed = policy::text_of(part);
    } else {
      is_trusted = true;
    }
  });
  if (claimed.empty() || is_trusted) return {};
  for (std::size_t tier = 0; tier < replacement.tiers.size(); ++tier) {
    if (policy::at_least_as_strict(terms_of(replacement.tiers[tier]), policy::terms_of(limit.live, tier))) continue;
    return failure(
        "consumer",
        fmt::format("any client can claim this {}, so an override must not admit more than the limit: {}", claimed,
                    claimed == "api_key" ? "set identity.api_key_verified if your proxy verifies keys, or "
                                           "key the limit by user"
                                         : "key the limit by an identity that your proxy verifies"));
  }
  return {};
}

Result<ResolvedBlock> resolve_block(const Record& record, match::ExceptionNumber number) {
  auto identity = match::BlockedIdentity::parse(record.target);
  if (!identity) return tl::unexpected(identity.error());
  ResolvedBlock resolved{std::move(*identity), {.number = number, .expires_at = record.expires_at}};
  if (record.routes.empty()) return resolved;
  std::vector<match::RouteEntry> entries;
  for (const std::string& text : record.routes) {
    auto route = policy::parse_route(text);
    if (!route) return failure("routes", in_quotes(text) + ": " + route.error().message());
    entries.push_back({std::move(*route), 0, false});
  }
  resolved.block.routes = std::make_shared<const match::RouteTree>(match::RouteTree::build(entries));
  return resolved;
}

Result<std::shared_ptr<const Replacement>> ReplacementCache::get(const policy::Ruleset& ruleset, std::uint32_t limit,
                                                                 const Terms* terms, std::uint64_t granted) {
  std::pair<std::uint32_t, std::string> key{limit, cache_key(terms, granted)};
  if (const auto found = known_.find(key); found != known_.end()) {
    if (auto kept = found->second.lock()) return kept;
  }
  auto made = replacement_for(ruleset, limit, terms, granted);
  if (!made) return tl::unexpected(made.error());
  auto shared = std::make_shared<const Replacement>(std::move(*made));
  if (known_.size() >= max_kept) std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
  if (known_.size() < max_kept) known_[std::move(key)] = shared;
  return shared;
}

}  // namespace weir::overrides
