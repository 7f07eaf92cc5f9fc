#include "policy/compile/numbers.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "policy/calendar.h"
#include "text/yaml/problem.h"
#include "text/yaml/scalar.h"

namespace weir::policy {
namespace {

struct WrittenNumber {
  std::string_view name;
  Mark at;
  const NumberField* field = nullptr;
};

std::vector<WrittenNumber> written_numbers(const NumbersSpec& spec, LimitFields fields) {
  std::vector<WrittenNumber> written;
  for (const LimitField& field : fields) {
    if (!field.use.number) continue;
    if (const auto at = field.use.number->at(spec)) written.push_back({field.path, *at, &*field.use.number});
  }
  std::ranges::sort(written, {}, [](const WrittenNumber& number) { return std::pair(number.at, number.name); });
  return written;
}

// The fields of the algorithm, in both spellings.
std::string_view spellings(PolicyAlgorithm algorithm) {
  if (algorithm == PolicyAlgorithm::concurrency) return "limit and lease";
  if (algorithm == PolicyAlgorithm::fixed_window) return "rate, or limit and window_seconds (or window)";
  if (is_window(algorithm)) return "rate, or limit and window_seconds";
  if (algorithm == PolicyAlgorithm::leaky_bucket)
    return "rate and burst (or queue), or leak_rate and capacity (or queue)";
  return "rate and burst, or refill_rate and capacity";
}

template <class T>
std::optional<Given<T>> given(const std::optional<Written<T>>& written, std::string_view field) {
  if (!written) return {};
  return Given<T>{written->value, written->at, field};
}

template <class T>
std::optional<T> first(const std::optional<T>& a, const std::optional<T>& b) {
  return a ? a : b;
}

struct NumbersError {
  std::optional<Mark> at;  // position of the invalid number; unset if a number is missing
  std::string message;
};

tl::unexpected<NumbersError> missing(std::string_view field) {
  const std::string_view how = field == "rate" ? ": write it like 100/min" : "";
  return tl::unexpected<NumbersError>({{}, fmt::format("missing {}{}", field, how)});
}

// Converts an error of weir::Limit to one about the field of the policy.
NumbersError field_error(const Error& error, const Numbers& numbers) {
  const auto at = [&](const auto& number) {
    return NumbersError{number->at, fmt::format("{}: {}", number->field, error.what)};
  };
  if (error.where == "burst" && numbers.burst) return at(numbers.burst);
  if (error.where == "queue" && numbers.queue) return at(numbers.queue);
  if (error.where == "limit" && numbers.limit) return at(numbers.limit);
  if (error.where == "window" && numbers.window) return at(numbers.window);
  if (numbers.rate) return at(numbers.rate);
  return {{}, error.message()};
}

Result<Limit> make_bucket(PolicyAlgorithm algorithm, const Numbers& numbers, std::uint64_t burst) {
  const Rate rate = numbers.rate->value;
  if (algorithm == PolicyAlgorithm::token_bucket) return Limit::token_bucket({rate, burst});
  if (algorithm == PolicyAlgorithm::gcra) return Limit::gcra({rate, burst});
  if (numbers.queue) return Limit::leaky_bucket(QueueNumbers{rate, numbers.queue->value});
  return Limit::leaky_bucket(BucketNumbers{rate, burst});
}

Result<Limit> make_window(PolicyAlgorithm algorithm, WindowNumbers numbers) {
  if (algorithm == PolicyAlgorithm::fixed_window) return Limit::fixed_window(numbers);
  if (algorithm == PolicyAlgorithm::sliding_window_log) return Limit::sliding_window_log(numbers);
  return Limit::sliding_window_counter(numbers);
}

void check_alone(const NumbersSpec& spec, LimitFields fields, Problems& problems) {
  for (const WrittenNumber& number : written_numbers(spec, fields)) {
    problems.error(number.at, "{} cannot be combined with 'rate: 0' (a ban): every request is denied", number.name);
  }
}

void check_queue(const NumbersSpec& spec, Problems& problems) {
  if (!spec.queue || (!spec.burst && !spec.capacity)) return;
  const auto& burst = spec.burst ? *spec.burst : *spec.capacity;
  problems.error(std::max(spec.queue->at, burst.at),
                 "queue and {} cannot be combined: with a queue requests wait, with a burst they do not",
                 spec.burst ? "burst" : "capacity");
}

void check_window(const NumbersSpec& spec, Problems& problems) {
  if (spec.rate && spec.calendar) {
    problems.error(std::max(spec.rate->at, spec.calendar->at),
                   "rate and window cannot be combined: write limit and window, or rate alone, like 1000/month (in "
                   "UTC)");
  }
  if (!spec.window || !spec.calendar) return;
  problems.error(std::max(spec.window->at, spec.calendar->at),
                 "window and window_seconds cannot be combined: a window follows the calendar or has a fixed length");
}

// Returns the rate of a bucket as written; nothing for a window.
std::optional<WrittenRate> written_rate(PolicyAlgorithm algorithm, const Numbers& numbers) {
  if (is_window(algorithm) || !numbers.rate) return {};
  return WrittenRate{
      .rate = numbers.rate->value, .per_second = numbers.rate->field != "rate", .per_week = numbers.unit.has_value()};
}

// Months and years vary in length.
template <class T>
tl::unexpected<NumbersError> has_no_length(const Given<T>& rate, core::CalendarUnit unit) {
  const std::string_view days = unit == core::CalendarUnit::month ? "30day" : "365day";
  return tl::unexpected<NumbersError>(
      {rate.at, fmt::format("{}: only fixed_window follows the calendar, and a {} has no fixed length: use "
                            "fixed_window, or write days, like 1000/{}",
                            rate.field, name_of(unit), days)});
}

bool has_length(std::optional<core::CalendarUnit> unit) noexcept {
  return !unit || *unit == core::CalendarUnit::week;
}

// True if a rate has the same unit as the calendar window next to it.
bool has_unit_of(const core::Calendar& calendar, const Numbers& numbers) {
  if (!numbers.window) return true;
  if (numbers.unit) return *numbers.unit == calendar.unit();
  return calendar.unit() == core::CalendarUnit::day && numbers.window->value == core::nominal_length(calendar.unit());
}

// Returns the calendar of a fixed window; null if its windows have a fixed length.
tl::expected<const core::Calendar*, NumbersError> calendar_of(const Numbers& numbers) {
  if (numbers.calendar) {
    const core::Calendar& calendar = *numbers.calendar->value;
    if (has_unit_of(calendar, numbers)) return &calendar;
    return tl::unexpected<NumbersError>(
        {numbers.window->at,
         fmt::format("{} must be per {}, like its window: use the same unit, or write limit instead",
                     numbers.window->field, name_of(calendar.unit()))});
  }
  if (!numbers.unit) return nullptr;
  return find_calendar(*numbers.unit, utc).value();
}

tl::expected<Limit, NumbersError> checked_numbers(Result<Limit> limit, const Numbers& numbers) {
  if (limit) return *limit;
  return tl::unexpected<NumbersError>(field_error(limit.error(), numbers));
}

tl::expected<Limit, NumbersError> make_concurrency(const Numbers& numbers) {
  if (!numbers.limit) return missing("limit");
  ConcurrencyNumbers held{.limit = numbers.limit->value};
  if (numbers.lease) held.lease = numbers.lease->value;
  return checked_numbers(Limit::concurrency(held), numbers);
}

tl::expected<Limit, NumbersError> make_limit(PolicyAlgorithm algorithm, const Numbers& numbers) {
  const auto checked = [&](Result<Limit> limit) { return checked_numbers(std::move(limit), numbers); };
  if (algorithm == PolicyAlgorithm::concurrency) return make_concurrency(numbers);
  if (is_window(algorithm)) {
    if (!numbers.limit) return missing(numbers.window || numbers.calendar ? "limit" : "rate");
    if (algorithm == PolicyAlgorithm::fixed_window) {
      const auto calendar = calendar_of(numbers);
      if (!calendar) return tl::unexpected<NumbersError>(calendar.error());
      if (*calendar != nullptr) return checked(Limit::fixed_window(numbers.limit->value, **calendar));
    }
    if (!numbers.window) return missing("window_seconds");
    if (!has_length(numbers.unit)) return has_no_length(*numbers.window, *numbers.unit);
    return checked(make_window(algorithm, {numbers.limit->value, numbers.window->value}));
  }
  const bool leaky = algorithm == PolicyAlgorithm::leaky_bucket;
  if (!numbers.rate) {
    const bool spelled_out = numbers.burst && numbers.burst->field == "capacity";
    return missing(!spelled_out ? "rate" : leaky ? "leak_rate" : "refill_rate");
  }
  if (!has_length(numbers.unit)) return has_no_length(*numbers.rate, *numbers.unit);
  std::uint64_t burst = 1;
  if (numbers.burst) {
    burst = numbers.burst->value;
  } else if (!leaky) {
    if (numbers.rate->field != "rate") return missing("capacity");
    burst = numbers.rate->value.count;
  }
  return checked(make_bucket(algorithm, numbers, burst));
}

// A leaky bucket must have a queue for all tiers or for none, because the two kinds have different states.
bool changes_kind(const Numbers& base, const Numbers& own) {
  return base.queue ? own.burst.has_value() : own.queue.has_value();
}

Numbers without_other_kind(const Numbers& base, Numbers own) {
  if (base.queue) own.burst.reset();
  if (!base.queue) own.queue.reset();
  return own;
}

void report_numbers(const NumbersError& error, Mark otherwise, const std::string& called, Problems& problems) {
  const bool candidate = !called.empty();
  const std::string_view inherits = !error.at && candidate ? " (its limit has none to inherit)" : "";
  problems.error(error.at.value_or(otherwise), "{}{}{}", called, error.message, inherits);
}

// The numbers that tiers inherit. A ban has none; the first tier with numbers then decides whether tiers are queues.
Numbers base_of(const Numbered& numbered) {
  if (!numbered.banned) return numbered.numbers;
  const auto first =
      std::ranges::find_if(numbered.overrides, [](const TierNumbers& own) { return own.spec->has_numbers(); });
  Numbers base;
  if (first != numbered.overrides.end()) base.queue = numbers_of(first->spec->numbers).queue;
  return base;
}

// The numbers of a compiled limit, as far as another tier would inherit them.
Numbers numbers_of(const Limit& limit, const std::optional<WrittenRate>& rate) {
  const auto given = [](auto value, std::string_view field) { return Given<decltype(value)>{value, {}, field}; };
  Numbers numbers;
  switch (limit.algorithm()) {
    case Algorithm::concurrency:
      numbers.limit = given(limit.capacity(), "limit");
      numbers.lease = given(limit.rate().per, "lease");
      return numbers;
    case Algorithm::fixed_window:
    case Algorithm::sliding_window_log:
    case Algorithm::sliding_window_counter:
      numbers.limit = given(limit.capacity(), "limit");
      if (limit.calendar() != nullptr) {
        numbers.calendar = given(limit.calendar(), "window");
      } else {
        numbers.window = given(limit.rate().per, "window_seconds");
      }
      return numbers;
    case Algorithm::leaky_bucket_queue:
      numbers.rate = given(limit.rate(), "rate");
      numbers.queue = given(limit.capacity() - 1, "queue");
      return numbers;
    case Algorithm::token_bucket:
    case Algorithm::gcra:
    case Algorithm::leaky_bucket_meter:
      break;
  }
  numbers.rate = given(rate ? rate->rate : limit.rate(), "rate");
  const bool is_leaky = limit.algorithm() == Algorithm::leaky_bucket_meter;
  const std::uint64_t default_burst = is_leaky ? 1 : numbers.rate->value.count;
  if (limit.capacity() != default_burst) numbers.burst = given(limit.capacity(), "burst");
  return numbers;
}

// Replaces the numbers of one tier by those of its override.
bool put_tier(const Numbered& numbered, const TierNumbers& own, const Owner& owner, TieredLimit& limits,
              Problems& problems) {
  const auto& [spec, tier] = own;
  limits.banned[tier] = spec->bans();
  limits.by_tier[tier].reset();
  limits.rates[tier].reset();
  if (!spec->has_numbers()) return true;
  const std::string called = fmt::format("{}tier {}: ", owner.called, in_quotes(spec->tier.value));
  const Numbers base = base_of(numbered);
  Numbers numbers = numbers_of(spec->numbers);
  if (numbered.overrides_of_another) {
    numbers = without_other_kind(base, std::move(numbers));
  } else if (changes_kind(base, numbers)) {
    problems.error(spec->tier.at, "{}the limit has {}: write {}", called,
                   base.queue ? "a queue, so every tier must have one" : "no queue, so no tier can have one",
                   base.queue ? "queue" : "burst");
    return false;
  }
  numbers = inherited(numbers, base);
  const auto limit = make_limit(numbered.algorithm, numbers);
  if (!limit) {
    // The error is reported at the tier even if the invalid number is inherited.
    problems.error(spec->tier.at, called + limit.error().message);
    return false;
  }
  limits.by_tier[tier] = *limit;
  limits.rates[tier] = written_rate(numbered.algorithm, numbers);
  return true;
}

}  // namespace

void check_fields(const NumbersSpec& spec, PolicyAlgorithm algorithm, LimitFields fields, Problems& problems) {
  if (spec.ban) return check_alone(spec, fields, problems);
  if (algorithm == PolicyAlgorithm::leaky_bucket) check_queue(spec, problems);
  if (algorithm == PolicyAlgorithm::fixed_window) check_window(spec, problems);
  std::optional<std::pair<std::string_view, Spelling>> first_spelled;
  for (const auto& [name, at, field] : written_numbers(spec, fields)) {
    if ((field->algorithms & set_of(algorithm)) == 0) {
      problems.error(at, "{} has no {}: write {}", name_of(algorithm), name, spellings(algorithm));
      continue;
    }
    if (field->spelling == Spelling::either) continue;
    if (first_spelled && first_spelled->second != field->spelling) {
      problems.error(at, "{} and {} cannot be combined: write {}", first_spelled->first, name, spellings(algorithm));
      break;
    }
    if (!first_spelled) first_spelled = {name, field->spelling};
  }
}

Numbers numbers_of(const NumbersSpec& spec) {
  Numbers numbers;
  numbers.rate = first(given(spec.rate, "rate"),
                       first(given(spec.refill_rate, "refill_rate"), given(spec.leak_rate, "leak_rate")));
  numbers.burst = first(given(spec.burst, "burst"), given(spec.capacity, "capacity"));
  numbers.queue = given(spec.queue, "queue");
  numbers.lease = given(spec.lease, "lease");
  numbers.limit = given(spec.limit, "limit");
  numbers.window = given(spec.window, "window_seconds");
  numbers.calendar = given(spec.calendar, "window");
  numbers.unit = spec.rate_unit;
  if (spec.rate) {
    numbers.limit = Given<std::uint64_t>{spec.rate->value.count, spec.rate->at, "rate"};
    numbers.window = Given<Duration>{spec.rate->value.per, spec.rate->at, "rate"};
  }
  return numbers;
}

Result<Limit> replaced_numbers(const Limit& base, const std::optional<WrittenRate>& rate, PolicyAlgorithm algorithm,
                               const NumbersSpec& spec) {
  const Numbers of_base = numbers_of(base, rate);
  const Numbers own = numbers_of(spec);
  if (changes_kind(of_base, own)) {
    return failure(of_base.queue ? "burst" : "queue",
                   of_base.queue ? "the limit has a queue: write queue" : "the limit has no queue: write burst");
  }
  auto limit = make_limit(algorithm, inherited(own, of_base));
  if (!limit) return failure("numbers", limit.error().message);
  return *limit;
}

Numbers inherited(const Numbers& own, const Numbers& base) {
  // A window of fixed length replaces a calendar window, and vice versa.
  const bool has_length = own.window && own.window->field == "window_seconds";
  const bool drops_length = own.calendar && base.window && base.window->field == "window_seconds";
  return {.rate = first(own.rate, base.rate),
          .burst = own.queue ? own.burst : first(own.burst, base.burst),
          .queue = own.burst ? own.queue : first(own.queue, base.queue),
          .lease = first(own.lease, base.lease),
          .limit = first(own.limit, base.limit),
          .window = drops_length ? own.window : first(own.window, base.window),
          .unit = own.rate || own.window ? own.unit : base.unit,
          .calendar = has_length ? own.calendar : first(own.calendar, base.calendar)};
}

std::vector<TierNumbers> find_tiers(const std::vector<TierOverrideSpec>& overrides, NamedTiers tiers,
                                    Problems& problems) {
  std::vector<TierNumbers> found;
  for (const TierOverrideSpec& spec : overrides) {
    const auto tier = tiers.tiers.find(spec.tier.value);
    if (tier) {
      found.push_back({&spec, *tier});
    } else {
      problems.error(spec.tier.at, "tier {} is not in {}.names{}", in_quotes(spec.tier.value), tiers.field,
                     text::did_you_mean(spec.tier.value, tiers.tiers.names));
    }
  }
  return found;
}

std::optional<TieredLimit> compile_tiers(const Numbered& numbered, const Tiers& tiers, const Owner& owner,
                                         Problems& problems) {
  TieredLimit limits;
  const std::size_t count = tiers.names.size();
  if (numbered.banned) {
    limits.by_tier.resize(count);
    limits.banned.assign(count, true);
    limits.rates.resize(count);
  } else if (const auto base = make_limit(numbered.algorithm, numbered.numbers)) {
    limits.by_tier.assign(count, *base);
    limits.banned.resize(count);
    limits.rates.assign(count, written_rate(numbered.algorithm, numbered.numbers));
  } else {
    report_numbers(base.error(), owner.at, owner.called, problems);
    return {};
  }
  bool good = true;
  for (const TierNumbers& own : numbered.overrides) good = put_tier(numbered, own, owner, limits, problems) && good;
  if (!good) return {};
  if (std::ranges::find(limits.banned, true) == limits.banned.end()) limits.banned.clear();
  return limits;
}

}  // namespace weir::policy
