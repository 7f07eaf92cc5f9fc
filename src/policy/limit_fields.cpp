#include "policy/limit_fields.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>
#include <fmt/format.h>

#include "policy/compile/canonical.h"
#include "policy/read/limit_reader.h"
#include "policy/tools/diff_parts.h"
#include "policy/words.h"

namespace weir::policy {
namespace {

using diff_parts::direction_of;
using diff_parts::direction_of_more;
using diff_parts::LimitComparison;
using Compiled = const CompiledLimit&;

// --- types

FieldType defined(std::string_view definition, std::string values) {
  return {.schema = fmt::format(R"("$ref": "#/$defs/{}")", definition), .values = std::move(values)};
}

FieldType words(const std::vector<std::string_view>& all) {
  return {.schema = fmt::format(R"("enum": ["{}"])", fmt::join(all, R"(", ")")),
          .values = fmt::format("`{}`", fmt::join(all, "`, `"))};
}

FieldType type(std::string schema, std::string values) {
  return {.schema = std::move(schema), .values = std::move(values)};
}

// The type of a map whose fields are the rows that follow.
FieldType map_of_fields(std::string values = "") {
  return type(R"("type": "object")", std::move(values));
}

// The type of a field that is one of the words, or a map with one of the two rows that follow.
FieldType word_or_field(const std::vector<std::string_view>& all) {
  const FieldType word = words(all);
  return {.schema = R"("type": "object", "minProperties": 1, "maxProperties": 1)",
          .values = word.values + ", or a map with one of the next two",
          .alternative = word.schema};
}

std::vector<std::string_view> algorithm_names() {
  std::vector<std::string_view> names;
  for (const PolicyAlgorithm algorithm : all_algorithms) names.push_back(name_of(algorithm));
  names.insert(names.end() - 1, short_counter_name);
  return names;
}

// --- reading, compiling, digesting

template <class Member, class Enum>
auto choice(Member LimitSpec::* member, Enum last) {
  return [=](const FieldInput& at) {
    if (const auto chosen = at.map.choice(at.name, last)) at.limit.*member = *chosen;
  };
}

template <class Member, class Read>
auto from_node(Member LimitSpec::* member, Read read) {
  return [=](const FieldInput& at) {
    const text::Node* node = at.map.find(at.name);
    if (node == nullptr) return;
    if (auto value = read(*node, at.map.problems())) at.limit.*member = *std::move(value);
  };
}

// The identities of the document; without one, only user and api_key.
const Identity& identity_of(const FieldInput& at) {
  static const Identity none;
  return at.context.identity != nullptr ? *at.context.identity : none;
}

void read_key(const FieldInput& at) {
  const auto* node = at.map.require(at.name, "user, api_key, ip, global, route or header:NAME");
  if (node != nullptr) at.limit.consumer_key = read_consumer_key(*node, identity_of(at), at.map.problems());
}

void read_condition(const FieldInput& at) {
  const auto* node = at.map.find(at.name);
  if (node == nullptr) return;
  if (auto when = read_when(*node, identity_of(at), at.map.problems())) at.limit.when = *std::move(when);
}

void read_max_reserve(const FieldInput& at) {
  at.limit.max_reserve = read_count(at.map, at.name);
}

void read_share(const FieldInput& at) {
  at.limit.local_share = at.map.value(at.name, text::Form::number, text::parse_share);
}

std::optional<Written<Rate>> read_per_second(text::MapReader& map, std::string_view name) {
  return map.value(name, text::Form::number, text::parse_per_second);
}

template <class T>
const Written<T>* written(const Written<T>& value) {
  return &value;
}
template <class T>
const Written<T>* written(const std::optional<Written<T>>& value) {
  return value ? &*value : nullptr;
}

template <class Member>
auto digested(Member CompiledLimit::* member) {
  return [=](Compiled limit, Canonical& to) { to.put(limit.*member); };
}

using Compare = std::function<void(const LimitComparison&)>;
using Digest = std::function<void(Compiled, Canonical&)>;

// A field whose written value is the compiled one.
template <class From, class To, class Read>
FieldUse field(From LimitSpec::* from, To CompiledLimit::* to, Read read, const Compare& compare,
               const Digest& digest) {
  const auto compile = [=](const LimitSpec& spec, CompiledLimit& limit) {
    if (const auto* value = written(spec.*from)) limit.*to = value->value;
  };
  return {.read = read, .compile = compile, .digest = digest, .compare = compare};
}
template <class From, class To, class Read>
FieldUse field(From LimitSpec::* from, To CompiledLimit::* to, Read read, const Compare& compare = {}) {
  return field(from, to, read, compare, digested(to));
}

// A field that compile() handles itself.
FieldUse uncompiled(std::function<void(const FieldInput&)> read, Digest digest = {}, Compare compare = {}) {
  return {.read = std::move(read), .compile = {}, .digest = std::move(digest), .compare = std::move(compare)};
}

FieldUse also_in_candidates(FieldUse use) {
  use.scope = FieldScope::candidate;
  return use;
}

template <class T, class Read>
FieldUse number(AlgorithmSet algorithms, Spelling spelling, std::optional<Written<T>> NumbersSpec::* member,
                Read read) {
  const auto take = [=](text::MapReader& map, std::string_view name, NumbersSpec& numbers) {
    if constexpr (requires { read(map, name, numbers); }) {
      read(map, name, numbers);
    } else {
      numbers.*member = read(map, name);
    }
  };
  const auto at = [=](const NumbersSpec& numbers) {
    return numbers.*member ? std::optional((numbers.*member)->at) : std::nullopt;
  };
  return {.scope = FieldScope::tier, .number = NumberField{algorithms, spelling, take, at}};
}

// --- comparing

// Returns a comparison that reports a changed field, such as `penalty none -> after 5 in 1 min for 1 h`, followed by
// note(was, is). text(limit) formats the field; direction(was, is) tells whether the change is stricter.
template <class Text, class Towards, class Note>
auto compared(std::string_view name, Text text, Towards direction, Note note) {
  return [=](const LimitComparison& limits) {
    Compiled before = limits.before.limit;
    Compiled after = limits.after.limit;
    const std::string was(text(before));
    const std::string is(text(after));
    if (was == is) return;
    limits.report(fmt::format("{} {} -> {}{}", name, was, is, note(before, after)), direction(before, after));
  };
}

// Returns a direction function for a member whose values is_as_strict(a, b) compares.
template <class Member>
auto by_strictness(Member CompiledLimit::* member, bool (*is_as_strict)(const Member&, const Member&)) {
  return [=](Compiled was, Compiled is) {
    return direction_of(is_as_strict(is.*member, was.*member), is_as_strict(was.*member, is.*member));
  };
}

std::string when_text(Compiled limit) {
  return text_of(limit.when);
}

Direction when_direction(Compiled was, Compiled is) {
  return direction_of(includes(is.when, was.when), includes(was.when, is.when));
}

std::string key_text(Compiled limit) {
  return text_of(limit.consumer_key);
}

Direction key_direction(Compiled was, Compiled is) {
  const Consumers before{was.consumer_key, was.missing};
  const Consumers after{is.consumer_key, is.missing};
  return direction_of(at_least_as_coarse(after, before), at_least_as_coarse(before, after));
}

std::string warn_first_text(Compiled limit) {
  const auto& warn = limit.warn_first;
  return warn ? fmt::format("{} per {}", warn->count, duration_text(warn->per)) : "none";
}

bool warns_no_more(const std::optional<WarnFirst>& a, const std::optional<WarnFirst>& b) {
  return !a || (b && a->count <= b->count && a->per >= b->per);
}

std::string penalty_text(Compiled limit) {
  const auto& penalty = limit.penalty;
  if (!penalty) return "none";
  return fmt::format("after {} in {} for {}", penalty->after, duration_text(penalty->within),
                     duration_text(penalty->block));
}

bool punishes_no_less(const std::optional<Penalty>& a, const std::optional<Penalty>& b) {
  return !b || (a && a->after <= b->after && a->within >= b->within && a->block >= b->block);
}

std::string_view outage_text(Compiled limit) {
  return name_of(limit.on_store_failure);
}

std::string_view outage_note(Compiled, Compiled is) {
  static constexpr std::array<std::string_view, 3> meanings{
      ", each node enforces its share while the store is unavailable",
      ", every request is admitted while the store is unavailable",
      ", every request is denied while the store is unavailable"};
  return meanings[static_cast<std::size_t>(is.on_store_failure)];
}

Direction outage_direction(Compiled was, Compiled is) {
  static constexpr std::array<int, 3> strictness{1, 0, 2};
  const auto of = [](Compiled limit) { return strictness[static_cast<std::size_t>(limit.on_store_failure)]; };
  return direction_of_more(of(was), of(is));
}

// Formats millionths as a policy writes them: 0.5.
std::string share_text(Compiled limit) {
  const auto& share = limit.local_share;
  if (!share) return "1/nodes";
  std::string text = fmt::format("{}.{:06}", *share / 1'000'000, *share % 1'000'000);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void digest_share(Compiled limit, Canonical& to) {
  to.put(std::uint64_t{limit.local_share.value_or(0)});  // 0 is not a valid share
}

// The default, 1 / nodes, is at most one half. How it compares with a smaller share depends on the number of nodes.
Direction share_direction(Compiled before, Compiled after) {
  constexpr std::uint32_t half = 500'000;
  const auto& was = before.local_share;
  const auto& is = after.local_share;
  const bool matters =
      before.on_store_failure == OnStoreFailure::local && after.on_store_failure == OnStoreFailure::local;
  if (!matters) return Direction::neutral;
  if (was && is) return direction_of_more(*is, *was);
  if (was.value_or(is.value_or(0)) < half) return Direction::different;
  return was ? Direction::tighter : Direction::looser;
}

std::string consistency_text(Compiled limit) {
  const ConsistencyChoice& choice = limit.consistency;
  if (choice.kind == Consistency::leased) return "leased for " + duration_text(choice.lease);
  if (choice.kind == Consistency::approximate) return "approximate every " + duration_text(choice.sync);
  return "exact";
}

std::string_view consistency_note(Compiled before, Compiled after) {
  static constexpr std::array<std::string_view, 3> meanings{
      ", never over the limit", ", never over the limit, and slightly under it while other nodes hold slices",
      ", up to a quarter over the limit, and slightly under it while other nodes hold slices"};
  const ConsistencyChoice& was = before.consistency;
  const ConsistencyChoice& is = after.consistency;
  if (was.kind != is.kind) return meanings[static_cast<std::size_t>(is.kind)];
  if (is.kind == Consistency::leased) {
    return is.lease > was.lease ? ", nodes hold unused slices longer" : ", nodes return unused slices sooner";
  }
  return is.sync > was.sync ? ", nodes exchange counts less often" : ", nodes exchange counts more often";
}

// Units that one node holds are unavailable to others, so a leased limit may admit less, especially with a long lease.
// An approximate limit may admit more or less.
Direction consistency_direction(Compiled was, Compiled is) noexcept {
  const auto is_approximate = [](Compiled limit) { return limit.consistency.kind == Consistency::approximate; };
  if (is_approximate(was) || is_approximate(is)) return Direction::different;
  const auto held_for = [](Compiled limit) {
    return limit.consistency.kind == Consistency::leased ? limit.consistency.lease : Duration::zero();
  };
  return direction_of_more(held_for(was), held_for(is));
}

std::string_view usage_text(Compiled limit) {
  return limit.usage ? name_of(*limit.usage) : "any";
}

std::string max_reserve_text(Compiled limit) {
  return limit.max_reserve ? std::to_string(*limit.max_reserve) : "none";
}

Direction max_reserve_direction(Compiled was, Compiled is) {
  constexpr std::uint64_t unbounded = ~std::uint64_t{0};
  return direction_of_more(is.max_reserve.value_or(unbounded), was.max_reserve.value_or(unbounded));
}

// Both are combined into one number, since most limits have no usage.
void digest_consistency_and_usage(Compiled limit, Canonical& to) {
  const std::uint64_t usage = limit.usage ? static_cast<std::uint64_t>(*limit.usage) + 1 : 0;
  to.put(static_cast<std::uint64_t>(limit.consistency.kind) | usage << 8);
  if (limit.consistency.kind == Consistency::leased) to.put(limit.consistency.lease);
  if (limit.consistency.kind == Consistency::approximate) to.put(limit.consistency.sync);
}

// --- the table

// Each row lists path, type, default, meaning and use.
std::vector<LimitField> make_limit_fields() {  // NOLINT(readability-function-size): one table
  using enum PolicyAlgorithm;
  constexpr AlgorithmSet token_buckets = set_of(token_bucket) | set_of(gcra);
  constexpr AlgorithmSet buckets = token_buckets | set_of(leaky_bucket);
  constexpr AlgorithmSet windows = set_of(fixed_window) | set_of(sliding_window_log) | set_of(sliding_window_counter);
  constexpr auto required = "required";
  constexpr auto both = Spelling::either;
  constexpr auto short_form = Spelling::rate_and_burst;
  constexpr auto long_form = Spelling::spelled_out;
  const auto no_note = [](Compiled, Compiled) { return ""; };
  const auto restarts = [](Compiled, Compiled) { return ", counters restart"; };
  const auto neutral = [](Compiled, Compiled) { return Direction::neutral; };
  const auto whole_number = [](text::MapReader& map, std::string_view name) { return map.whole(name); };
  const auto chosen_algorithm = [](const FieldInput& at) { at.limit.algorithm = read_algorithm(at.map); };
  const auto overrides = [](const FieldInput& at) {
    if (const auto* node = at.map.find(at.name))
      at.limit.tier_overrides = read_tier_overrides(*node, at.context.fields, at.map.problems());
  };
  const FieldType count = defined("whole", "count");
  const FieldType logged = defined("logged", "1 to 65536");
  const FieldType duration = defined("duration", "duration");
  const FieldType per_second = defined("per_second", "number above 0, up to six decimals");
  const std::string whole = R"("type": "integer", "minimum": 0, "maximum": 9007199254740992)";

  return {
      {"name", defined("name", "name"), required, "identifies the limit in answers, metrics, the log and `weir peek`",
       field(&LimitSpec::name, &CompiledLimit::name, read_name)},
      {"routes",
       type(R"("type": "array", "minItems": 1, "maxItems": 10000, "items": { "type": "string" })",
            "list of `METHOD /path/{param}`, `/path/**`"),
       "every request", "the [routes](policy-language.md#routes) that the limit covers; the method is optional",
       uncompiled(read_routes, digested(&CompiledLimit::routes), diff_parts::compare_routes)},
      {"except",
       type(R"("type": "array", "minItems": 1, "maxItems": 100, "items": { "type": "string" })",
            "list of up to 100 routes"),
       "none", "routes that the limit [does not cover](policy-language.md#exceptions)",
       uncompiled(read_except, {}, diff_parts::compare_except)},  // digested by digest.cpp
      {"when",
       FieldType{.schema = R"("$ref": "#/$defs/condition")",
                 .values = "`authenticated`, `anonymous`, or a map with one of the next seven"},
       "always", "restricts the limit to these requests",
       field(&LimitSpec::when, &CompiledLimit::when, read_condition,
             compared("when", when_text, when_direction, no_note))},
      {"when.ip_in", type("", "list of ranges"), "", "requests from these addresses"},
      {"when.ip_not_in", type("", "list of ranges"), "", "requests from all other addresses"},
      {"when.identified_by", type("", "`user`, `api_key` or the name of an identity"), "",
       "requests that have this identity"},
      {"when.identity_in", type("", "a map of one identity to a list of values"), "",
       "requests whose identity has one of these values: `{ organization: [acme, globex] }`"},
      {"when.all", type("", "list of conditions"), "", "requests that meet all of them"},
      {"when.any", type("", "list of conditions"), "", "requests that meet at least one of them"},
      {"when.not", type("", "a condition"), "", "requests that do not meet it"},
      {"consumer_key",
       type(
           R"("anyOf": [{ "$ref": "#/$defs/key" }, { "type": "array", "minItems": 1, "maxItems": 8, )"
           R"("uniqueItems": true, "items": { "$ref": "#/$defs/key" } }])",
           "`user`, `api_key`, `ip`, `global`, `route`, `header:NAME`, the name of an identity, `a+b`, or a list of up "
           "to 8"),
       required,
       "what the limit is [keyed by](policy-language.md#what-a-limit-is-keyed-by): each value has its own counter. "
       "`a+b`: both together. In a list, the first that is present",
       field(&LimitSpec::consumer_key, &CompiledLimit::consumer_key, read_key,
             compared("consumer_key", key_text, key_direction, restarts))},
      {"missing", words({"skip", "share", "deny"}), "`skip`; `share` if the last key is a header",
       "a request without the key is not covered, shares one counter with all such requests, or is denied",
       field(&LimitSpec::missing, &CompiledLimit::missing, choice(&LimitSpec::missing, Missing::deny),
             diff_parts::compare_missing)},
      {"algorithm", words(algorithm_names()), "required, except for a ban",
       "[how requests are counted](choosing-an-algorithm.md). `sliding_window` means `sliding_window_counter`",
       also_in_candidates(field(&LimitSpec::algorithm, &CompiledLimit::algorithm, chosen_algorithm, {},
                                digested(&CompiledLimit::live)))},

      {"rate",
       type(R"("anyOf": [{ "type": "string", "pattern": "^[1-9][0-9]*[kM]? */ *(([1-9][0-9]*)?(ms|s|sec|min|m|h|day)|)"
            R"(second|minute|hour|week|month|year)$" }, { "const": 0 }], )"
            R"("examples": ["10/s", "100/min", "10/30s", "100000/month"])",
            "`N/UNIT`: `10/s`, `100k/min`, `5/30s`, `1000/month`; or `0`"),
       "",
       "windows: the limit and its window; buckets: the refill or drain rate. `0` is a [ban](policy-language.md#bans)",
       number(buckets | windows, short_form, &NumbersSpec::rate, read_rate)},
      {"burst", count, "the count of `rate`; for `leaky_bucket` 1", "buckets: how many requests can pass at once",
       number(buckets, short_form, &NumbersSpec::burst, read_count)},
      {"capacity", count, "", "another name for `burst`, used together with `refill_rate` or `leak_rate`",
       number(buckets, long_form, &NumbersSpec::capacity, read_count)},
      {"refill_rate", per_second, "", "`token_bucket`, `gcra`: units per second, with `capacity`",
       number(token_buckets, long_form, &NumbersSpec::refill_rate, read_per_second)},
      {"leak_rate", per_second, "", "`leaky_bucket`: units per second, with `capacity` or `queue`",
       number(set_of(leaky_bucket), long_form, &NumbersSpec::leak_rate, read_per_second)},
      {"limit", count, "",
       "windows: the maximum in `window_seconds` or `window`. `concurrency`: the maximum in flight, at most 4096",
       number(windows | set_of(concurrency), long_form, &NumbersSpec::limit, read_count)},
      {"window_seconds", type(R"("type": "integer", "minimum": 1, "maximum": 315360000)", "1 to 315360000"), "",
       "windows: the length, with `limit`", number(windows, long_form, &NumbersSpec::window, read_seconds)},
      {"window", map_of_fields("a map"), "",
       "`fixed_window`: a [calendar window](policy-language.md#calendar-windows), with `limit`",
       number(set_of(fixed_window), both, &NumbersSpec::calendar, read_window)},
      {"window.calendar", words({"day", "week", "month", "year"}), required,
       "the unit of the window; weeks begin on Monday"},
      {"window.timezone", type(R"("type": "string", "examples": ["Europe/Berlin", "UTC"])", "name of a zone"), "`UTC`",
       "the time zone in which a day begins"},
      {"queue", type(whole, "whole number from 0"), "",
       "`leaky_bucket`: how many requests may wait, instead of `burst`",
       number(set_of(leaky_bucket), both, &NumbersSpec::queue, whole_number)},
      {"lease", defined("duration", "duration, 100ms to 7day"), "`60s`",
       "`concurrency`: how long a request is held unless it is released or extended",
       number(set_of(concurrency), both, &NumbersSpec::lease, read_lease)},

      {"cost",
       type(fmt::format(R"("anyOf": [{{ {0} }}, {{ "type": "object", "minProperties": 1, "maxProperties": 1000, )"
                        R"("propertyNames": {{ "pattern": "/" }}, "additionalProperties": {{ {0} }} }}, )"
                        R"({{ "type": "string", "pattern": "^header:[A-Za-z0-9!#$%&'*+.^_`|~-]+$" }}])",
                        whole),
            "whole number from 0; a map of them by route; `header:NAME`"),
       "1, or the caller's cost",
       "how many units a request takes; [overrides the caller's cost](policy-language.md#tiers-and-costs)",
       uncompiled(read_cost, digested(&CompiledLimit::cost), diff_parts::compare_cost)},
      {"cost.ROUTE", type("", "whole number from 0"), "1 for other routes", "the cost of one route"},
      {"max_cost", count, "the burst", "with `cost: header:NAME`: the maximum cost of a request",
       uncompiled(read_max_cost)},
      {"tier_overrides",
       type(R"("type": "object", "minProperties": 1, "propertyNames": { "$ref": "#/$defs/name" }, )"
            R"("additionalProperties": { "anyOf": [{ "enum": ["unlimited", "banned"] }, { "type": "object", )"
            R"("minProperties": 1, "additionalProperties": false, "properties": {tier fields} }] })",
            ""),
       "", "other numbers for a tier", also_in_candidates(uncompiled(overrides))},
      {"tier_overrides.TIER", type("", "`unlimited`, `banned`, or a map with any of {tier fields}"),
       "the limit's own numbers", "[other numbers for a tier](policy-language.md#tiers-and-costs)"},
      // diff() itself compares `mode`, since it decides what a change of any other field means.
      {"mode", words({"enforce", "shadow"}), "`enforce`", "`shadow`: counts and reports, but never denies",
       field(&LimitSpec::mode, &CompiledLimit::mode, choice(&LimitSpec::mode, Mode::shadow))},
      {"candidate",
       type(R"("type": "object", "minProperties": 1, "additionalProperties": false, "properties": {candidate fields})",
            "a map with any of {candidate fields}"),
       "none",
       "another algorithm or other numbers, [evaluated alongside the limit](policies.md#try-a-limit-before-it-denies), "
       "never "
       "enforced",
       uncompiled(read_candidate, digested(&CompiledLimit::candidate))},
      {"warn_first", map_of_fields(), "", "the first denials of a consumer are admitted with a warning",
       field(
           &LimitSpec::warn_first, &CompiledLimit::warn_first, from_node(&LimitSpec::warn_first, read_warn_first),
           compared("warn_first", warn_first_text, by_strictness(&CompiledLimit::warn_first, warns_no_more), no_note))},
      {"warn_first.count", logged, required, "how many denials of a consumer are admitted with a warning"},
      {"warn_first.per", duration, required, "the period in which they are counted"},
      {"penalty", map_of_fields(), "", "a consumer that is denied too often is blocked for a while",
       field(&LimitSpec::penalty, &CompiledLimit::penalty, from_node(&LimitSpec::penalty, read_penalty),
             compared("penalty", penalty_text, by_strictness(&CompiledLimit::penalty, punishes_no_less), no_note))},
      {"penalty.after", logged, required, "the number of denials after which a consumer is blocked"},
      {"penalty.within", duration, required, "the period in which the denials are counted"},
      {"penalty.block", duration, required, "how long the consumer is blocked"},
      {"on_store_failure", words({"local", "open", "closed"}), "`local`",
       "while the shared store is unavailable, [each node enforces a share, admits all, or denies "
       "all](policy-language.md#when-the-store-is-unavailable)",
       field(&LimitSpec::on_store_failure, &CompiledLimit::on_store_failure,
             choice(&LimitSpec::on_store_failure, OnStoreFailure::closed),
             compared("on_store_failure", outage_text, outage_direction, outage_note))},
      {"local_share", type(R"("type": "number", "exclusiveMinimum": 0, "maximum": 1)", "above 0, up to 1"),
       "1 / [nodes](shared-store.md#nodes), at most 0.5",
       "the share of the limit that each node admits while the shared store is unavailable",
       field(&LimitSpec::local_share, &CompiledLimit::local_share, read_share,
             compared("local_share", share_text, share_direction, no_note), digest_share)},
      {"consistency", word_or_field({"exact", "leased", "approximate"}), "`exact`",
       "[how exactly](consistency.md) the nodes that share the limit count together",
       field(&LimitSpec::consistency, &CompiledLimit::consistency, read_consistency,
             compared("consistency", consistency_text, consistency_direction, consistency_note),
             digest_consistency_and_usage)},
      {"consistency.leased", map_of_fields(), "",
       "never over the limit: nodes hold slices of it, so most decisions need no round trip to the store"},
      {"consistency.leased.lease", defined("duration", "duration, 100ms to 60s"), "`1s`",
       "how long a node holds a slice"},
      {"consistency.approximate", map_of_fields(), "",
       "no decision waits for the store: nodes exchange their usage in the background, and the excess is bounded"},
      {"consistency.approximate.sync", defined("duration", "duration, 20ms to 10s"), "`100ms`",
       "the interval between exchanges"},
      {"usage", words({"reported", "reserved"}), "none",
       "[how callers charge](policy-language.md#costs-known-later) a cost that is known only at the end",
       field(&LimitSpec::usage, &CompiledLimit::usage, choice(&LimitSpec::usage, Usage::reserved),
             compared("usage", usage_text, neutral, no_note), {})},  // digested with consistency
      {"max_reserve", count, "the burst or limit",
       "the maximum that one [reservation](policy-language.md#costs-known-later) may take",
       field(&LimitSpec::max_reserve, &CompiledLimit::max_reserve, read_max_reserve,
             compared("max_reserve", max_reserve_text, max_reserve_direction, no_note), {})},  // see digest.cpp
  };
}

}  // namespace

LimitFields limit_fields() {
  static const std::vector<LimitField> all = make_limit_fields();
  return all;
}

std::vector<std::string_view> names_of(LimitFields fields, FieldScope scope) {
  std::vector<std::string_view> names;
  for (const LimitField& field : fields) {
    if (field.is_own() && field.use.scope >= scope) names.push_back(field.path);
  }
  return names;
}

}  // namespace weir::policy
