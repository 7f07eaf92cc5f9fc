#include "store/redis/replay.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "wire/resp/integer_text.h"

namespace weir::store::redis {
namespace {

constexpr std::int64_t exact = std::int64_t{1} << 53;
constexpr std::int64_t window_numbers = std::int64_t{1} << 20;

struct Numbers {
  std::int64_t a = 0;
  std::int64_t b = 0;
};

std::optional<std::int64_t> number_in(std::string_view text) noexcept {
  const auto number = wire::resp::parse_integer(text);
  if (!number || *number < 0 || *number >= exact) return {};
  return number;
}

std::optional<Numbers> numbers_in(std::string_view text) noexcept {
  const std::size_t colon = text.find(':');
  const auto a = number_in(text.substr(0, colon));
  if (!a) return {};
  if (colon == std::string_view::npos) return Numbers{*a, 0};
  const auto b = number_in(text.substr(colon + 1));
  if (!b) return {};
  return Numbers{*a, *b};
}

// A window's start and count. The window's number is stored modulo 2^20 and resolved to the match nearest to the
// present window.
struct CountedWindow {
  std::int64_t start = 0;
  std::uint64_t count = 0;
};

std::optional<CountedWindow> window_in(std::int64_t number, std::int64_t length, Instant now) noexcept {
  const std::int64_t present = core::window_start(core::micros(now), length) / length;
  std::int64_t ahead = (number - present) & (window_numbers - 1);
  if (ahead >= window_numbers / 2) ahead -= window_numbers;
  const std::int64_t found = std::max<std::int64_t>(present + ahead, -2);  // -2: it expired long ago
  if (found > exact / length - 2) return {};
  return CountedWindow{found * length, static_cast<std::uint64_t>(number / window_numbers)};
}

}  // namespace

bool read_state(std::string_view text, const core::ArrivalLimit& /*limit*/, Instant /*now*/,
                core::ArrivalState& state) noexcept {
  const auto numbers = numbers_in(text);
  if (!numbers) return false;
  state = {numbers->a, numbers->b};
  return true;
}

bool read_state(std::string_view text, const core::FixedWindow::Limit& limit, Instant now,
                core::FixedWindow::State& state) noexcept {
  const auto numbers = numbers_in(text);
  if (!numbers) return false;
  if (limit.calendar != nullptr) {
    if (numbers->b == 0 && numbers->a > 0) return false;
    if (numbers->a > 0) state = {numbers->b, static_cast<std::uint64_t>(numbers->a)};
    return true;
  }
  const auto window = window_in(numbers->a, limit.window, now);
  if (!window) return false;
  if (window->count > 0) state = {window->start + limit.window, window->count};
  return true;
}

bool read_state(std::string_view text, const core::WindowLimit& limit, Instant now,
                core::SlidingWindowCounter::State& state) noexcept {
  const auto numbers = numbers_in(text);
  if (!numbers) return false;
  const auto window = window_in(numbers->a, limit.window, now);
  if (!window) return false;
  if (window->count > 0 || numbers->b > 0) {
    state = {window->start, static_cast<std::uint64_t>(numbers->b), window->count};
  }
  return true;
}

namespace {

// The bytes of one slice, and of the totals after a state's text; see script/arguments.lua.
constexpr std::size_t slice_bytes = 40;
constexpr std::size_t totals_bytes = 42;

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) noexcept {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return number;
}

// `window` is the length of the windows; 0 for buckets.
bool read_totals(std::string_view bytes, std::int64_t window, core::LeaseTotals& totals) noexcept {
  if (bytes.size() != totals_bytes) return false;
  const auto number = [&](std::size_t i) { return number_at(bytes, 2 + 8 * i, 8); };
  for (std::size_t i = 0; i < 5; ++i) {
    if (number(i) >= std::uint64_t{exact}) return false;
  }
  const auto max_window = static_cast<std::uint64_t>(exact / std::max<std::int64_t>(window, 1) - 2);
  if (number(4) > max_window) return false;
  totals = {.count = number_at(bytes, 0, 2),
            .units = number(0),
            .demand = number(1),
            .first_expiry = static_cast<std::int64_t>(number(2)),
            .last_expiry = static_cast<std::int64_t>(number(3)),
            .window = static_cast<std::int64_t>(number(4)) * window};
  return totals.count > 0;
}

// Reads numbers of 7 bytes; see script/records.lua.
class ReceiptReader {
 public:
  explicit ReceiptReader(std::string_view bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] bool is_sound() const noexcept { return is_sound_; }
  [[nodiscard]] bool is_at_end() const noexcept { return bytes_.empty() || !is_sound_; }

  // Returns a number below the maximum; otherwise 0, and the bytes are not sound.
  std::uint64_t number(std::size_t size = 7, std::uint64_t max = std::uint64_t{exact} - 1) noexcept {
    if (bytes_.size() < size) return is_sound_ = false, 0;
    const std::uint64_t found = number_at(bytes_, 0, size);
    bytes_.remove_prefix(size);
    is_sound_ = is_sound_ && found <= max;
    return is_sound_ ? found : 0;
  }
  void expect(bool holds) noexcept { is_sound_ = is_sound_ && holds; }
  std::int64_t time() noexcept { return static_cast<std::int64_t>(number()); }
  core::ReceiptId id() noexcept {
    const std::uint64_t low = number(8, UINT64_MAX);
    return {number(8, UINT64_MAX), low};
  }

 private:
  std::string_view bytes_;
  bool is_sound_ = true;
};

core::ReceiptTotals read_receipt_totals(ReceiptReader& reader) noexcept {
  constexpr std::uint64_t version = 1;
  reader.expect(reader.number(1) == version);
  core::ReceiptTotals totals{.open = reader.number(2, core::Receipts::max_open),
                             .reported = reader.number(2, core::Receipts::max_reported),
                             .units = reader.number(),
                             .first_expiry = reader.time(),
                             .last_expiry = reader.time()};
  for (int unused = 0; unused < 4; ++unused) (void)reader.number();  // the sequence and what concerns credits
  return totals;
}

template <class A>
constexpr std::int64_t window_of(const typename A::Limit& limit) noexcept {
  if constexpr (std::is_same_v<typename A::State, core::ArrivalState>) {
    return 0;
  } else if constexpr (std::is_same_v<A, core::FixedWindow>) {
    return limit.calendar == nullptr ? limit.window : 0;  // calendar windows are named by their ends
  } else {
    return limit.window;
  }
}

}  // namespace

bool LogExcerpt::is_sound() const noexcept {
  constexpr std::int64_t max_used = std::int64_t{1} << 32;
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (used <= 0 || used >= max_used || newest < 0 || newest >= exact) return false;
  Point before{0, 0};
  for (const Point& point : points) {
    if (point.cost <= before.cost || point.time < before.time) return false;
    before = point;
  }
  return before.cost < used ? before.time <= newest : before.cost == used && before.time == newest;
}

void Replay::begin(Instant now, std::size_t keys) {
  now_ = now;
  states_.clear();
  states_.resize(keys);
}

bool Replay::place_text(std::size_t key, const core::Rule& rule, std::string_view text) {
  return core::visit_rule(rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (std::is_same_v<A, core::SlidingWindowLog> || std::is_same_v<A, core::Concurrency>) {
      return false;  // a concurrency limit has no state besides its receipts
    } else {
      SharedState& state = states_[key];
      const std::int64_t window = window_of<A>(of.limit);
      const std::string_view numbers = text.substr(0, text.find('!'));
      const std::string_view rest = text.substr(numbers.size());
      if (!rest.empty() && (!core::is_leasable(rule) || !read_totals(rest.substr(1), window, state.ledger.totals))) {
        return false;
      }
      return read_state(numbers, of.limit, now_, state.of<A>());
    }
  });
}

bool Replay::place_receipts(std::size_t key, const core::Rule& rule, std::string_view bytes) {
  const std::int64_t window = core::visit_rule(rule, []<class A>(const core::RuleOf<A>& of) -> std::int64_t {
    if constexpr (std::is_same_v<A, core::SlidingWindowLog> || std::is_same_v<A, core::Concurrency>) return 0;
    return window_of<A>(of.limit);
  });
  core::Receipts& receipts = states_[key].receipts;
  ReceiptReader reader(bytes);
  const core::ReceiptTotals totals = read_receipt_totals(reader);
  sequences_.clear();
  while (!reader.is_at_end()) {
    const std::uint64_t kind = reader.number(1);
    reader.expect(kind == 'o' || kind == 'i');
    if (kind == 'i') {
      const core::ReceiptId id = reader.id();
      receipts.reported.push_back({id, reader.time()});
      continue;
    }
    core::Receipt receipt{.id = reader.id(), .cost = reader.number()};
    const std::uint64_t farthest = static_cast<std::uint64_t>(exact / std::max<std::int64_t>(window, 1)) - 1;
    receipt.at = static_cast<std::int64_t>(reader.number(7, farthest)) * std::max<std::int64_t>(window, 1);
    receipt.nths = reader.time();
    receipt.ends = reader.time();
    sequences_.emplace_back(reader.number(), receipt);
  }
  std::ranges::stable_sort(sequences_, {}, &std::pair<std::uint64_t, core::Receipt>::first);
  for (const auto& [sequence, receipt] : sequences_) receipts.open.push_back(receipt);
  receipts.totals = totals;
  return reader.is_sound() && receipts.open.size() <= totals.open && receipts.reported.size() <= totals.reported;
}

bool Replay::place_slices(std::size_t key, std::string_view bytes) {
  core::Ledger& ledger = states_[key].ledger;
  if (bytes.empty() || bytes.size() % slice_bytes != 0) return false;
  for (; !bytes.empty(); bytes.remove_prefix(slice_bytes)) {
    const core::Slice slice{.holder = number_at(bytes, 0, 8),
                            .number = number_at(bytes, 8, 8),
                            .units = number_at(bytes, 16, 4),
                            .demand = number_at(bytes, 20, 4),
                            .until = static_cast<std::int64_t>(number_at(bytes, 24, 8)),
                            .used = number_at(bytes, 32, 8)};
    if (slice.used >= std::uint64_t{exact} || slice.number >= std::uint64_t{exact} || slice.until < 0 ||
        slice.until >= exact)
      return false;
    ledger.slices.push_back(slice);
  }
  return ledger.slices.size() <= core::Ledger::max_slices;
}

// Every query concerns one of the points or the newest entry. So all entries between two points can be merged into one,
// and so can those after the last point. The ring has room for one more entry: all charges of a batch have the same
// time.
void Replay::place_log(std::size_t key, const LogExcerpt& log) {
  auto ring = core::LogRing::create(static_cast<std::uint32_t>(log.points.size()) + 2);
  if (!ring) return;  // as if never used: the disagreement with the script will be detected
  std::int64_t before = 0;
  for (const LogExcerpt::Point& point : log.points) {
    ring->append(point.time, static_cast<std::uint32_t>(point.cost - before));
    before = point.cost;
  }
  if (before < log.used) ring->append(log.newest, static_cast<std::uint32_t>(log.used - before));
  states_[key].of<core::SlidingWindowLog>().ring = std::move(ring);
}

std::uint64_t Replay::decide(Group& group, std::span<const std::uint32_t> keys,
                             std::span<const std::uint64_t> log_charges) {
  of_checks_.clear();
  for (const std::uint32_t key : keys) of_checks_.push_back(&states_[key]);
  return decider_.decide(group, of_checks_, now_, log_charges);
}

namespace {

using wire::resp::Reply;
using wire::resp::ReplyType;

bool is_number(const Reply& reply) noexcept {
  return reply.is(ReplyType::integer) && reply.integer() >= 0 && reply.integer() < (std::int64_t{1} << 53);
}

bool are_numbers(const Reply& array) noexcept {
  for (const Reply number : array) {
    if (!is_number(number)) return false;
  }
  return true;
}

bool is_plain_state(const Reply& reply) noexcept {
  return reply.is(ReplyType::null) || reply.is(ReplyType::bulk);
}

bool is_log_state(const Reply& reply) noexcept {
  if (reply.is(ReplyType::null)) return true;
  return reply.is(ReplyType::array) && reply.size() >= 2 && reply.size() % 2 == 0 && are_numbers(reply);
}

// True for pairs of a key's number, from 1, and bytes.
bool are_pairs(const Reply& reply, std::size_t keys) noexcept {
  if (!reply.is(ReplyType::array) || reply.size() % 2 != 0) return false;
  bool is_key = true;
  for (const Reply part : reply) {
    const bool is_sound = is_key ? is_number(part) && part.integer() >= 1 && std::cmp_less_equal(part.integer(), keys)
                                 : part.is(ReplyType::bulk);
    if (!is_sound) return false;
    is_key = !is_key;
  }
  return true;
}

}  // namespace

std::optional<ScriptReply> parse_script_reply(const Reply& reply, const ScriptReplySizes& sizes) noexcept {
  if (!reply.is(ReplyType::array) || (reply.size() != 3 && reply.size() != 6)) return {};
  auto part = reply.begin();
  const Reply now = *part;
  const Reply states = *++part;
  const Reply admitted = *++part;
  if (!is_number(now) || !states.is(ReplyType::array) || !admitted.is(ReplyType::array)) return {};
  if (states.size() != sizes.keys || admitted.size() != sizes.evaluations) return {};
  std::size_t key = 0;
  for (const Reply state : states) {
    if (!(key++ < sizes.plain_keys ? is_plain_state(state) : is_log_state(state))) return {};
  }
  if (!are_numbers(admitted)) return {};
  ScriptReply parsed{Instant{Duration{now.integer()}}, states, admitted, {}, {}, {}};
  if (reply.size() == 3) return sizes.charges == 0 ? std::optional(parsed) : std::nullopt;
  parsed.charges = *++part;
  parsed.slices = *++part;
  parsed.receipts = *++part;
  const bool has_charges =
      parsed.charges->is(ReplyType::array) && parsed.charges->size() == sizes.charges && are_numbers(*parsed.charges);
  if (!has_charges || !are_pairs(*parsed.slices, sizes.plain_keys) || !are_pairs(*parsed.receipts, sizes.keys))
    return {};
  return parsed;
}

std::optional<LogExcerpt> parse_log(const Reply& reply, std::vector<LogExcerpt::Point>& points) {
  points.clear();
  auto number = reply.begin();
  const std::int64_t used = (*number).integer();
  const std::int64_t newest = (*++number).integer();
  while (++number != reply.end()) {
    const std::int64_t cost = (*number).integer();
    points.push_back({cost, (*++number).integer()});
  }
  const LogExcerpt log{used, newest, points};
  if (!log.is_sound()) return {};
  return log;
}

}  // namespace weir::store::redis
