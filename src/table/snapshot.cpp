#include "table/snapshot.h"

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "table/block_file.h"
#include "table/locked_state.h"
#include "table/receipt_table.h"

namespace weir::table {
namespace {

constexpr std::array<char, 8> magic = {'W', 'E', 'I', 'R', 'S', 'N', 'A', 'P'};
// The version identifies the hash and whether there are receipts: a version of Weir that does not support receipts must
// reject the file rather than load the states without them.
constexpr std::uint32_t siphash_version = 1;
constexpr std::uint32_t aes_version = 2;
constexpr std::uint32_t versions_without_receipts = 2;
constexpr std::uint32_t newest_version = versions_without_receipts + aes_version;

enum class Record : std::uint8_t { key = 1, shared = 2, end = 3, key_receipts = 4, shared_receipts = 5 };

struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t algorithm;
  std::int64_t window;  // 0 if the algorithm has none
  std::uint64_t first_of_key;
  std::uint64_t second_of_key;

  [[nodiscard]] HashKey hash_key() const noexcept {
    return {first_of_key, second_of_key, version % 2 == aes_version % 2 ? HashKind::aes : HashKind::siphash};
  }
};

std::int64_t window_of(const core::Rule& rule) noexcept {
  return std::visit(
      []<class A>(const core::RuleOf<A>& of) -> std::int64_t {
        if constexpr (on_arrival_time<A> || std::is_same_v<A, core::Concurrency>) {
          return 0;
        } else {
          return of.limit.window;
        }
      },
      rule);
}

bool plausible(std::int64_t time) noexcept {
  return time >= core::never && time <= core::farthest_instant + 2 * Limit::max_duration.count();
}

bool plausible_count(std::uint64_t count) noexcept {
  return count <= 2 * Limit::max_window_limit;
}

// States as plain numbers. Reading rejects what no table could have written.
void put_state(BlockWriter& out, const core::ArrivalState& state) {
  out.put(state.whole);
  out.put(state.nths);
}

void put_state(BlockWriter& out, const core::FixedWindow::State& state) {
  out.put(state.end);
  out.put(state.count);
}

void put_state(BlockWriter& out, const core::SlidingWindowCounter::State& state) {
  out.put(state.start);
  out.put(state.previous);
  out.put(state.current);
}

void put_state(BlockWriter& out, const core::Concurrency::State& state) {
  out.put(state.ends);
}

void put_state(BlockWriter& out, const core::SlidingWindowLog::State& state) {
  const std::uint32_t size = state.empty() ? 0 : state.ring->size();
  out.put(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    out.put(state.ring->time(i));
    out.put(state.ring->cost(i));
  }
}

// Reads numbers one by one and remembers whether any was missing or implausible.
class Numbers {
 public:
  explicit Numbers(BlockReader& in) noexcept : in_(in) {}

  template <class T, class Check>
  T get(Check plausible) {
    const Result<T> got = in_.get<T>();
    if (!got && result_) result_ = tl::unexpected(got.error());
    const T value = got ? *got : T{};
    if (got && !plausible(value)) fail("is damaged: it has an impossible state; delete it to start without its states");
    return value;
  }

  void fail(const char* what) {
    if (result_) result_ = failure("snapshot", what);
  }

  [[nodiscard]] const Result<void>& result() const noexcept { return result_; }

 private:
  BlockReader& in_;
  Result<void> result_;
};

void get_state(Numbers& numbers, core::ArrivalState& state, std::uint32_t /*entries*/) {
  state.whole = numbers.get<std::int64_t>(plausible);
  state.nths = numbers.get<std::int64_t>([](std::int64_t n) { return n >= 0; });
}

void get_state(Numbers& numbers, core::FixedWindow::State& state, std::uint32_t /*entries*/) {
  state.end = numbers.get<std::int64_t>(plausible);
  state.count = numbers.get<std::uint64_t>(plausible_count);
}

void get_state(Numbers& numbers, core::SlidingWindowCounter::State& state, std::uint32_t /*entries*/) {
  state.start = numbers.get<std::int64_t>(plausible);
  state.previous = numbers.get<std::uint64_t>(plausible_count);
  state.current = numbers.get<std::uint64_t>(plausible_count);
}

void get_state(Numbers& numbers, core::Concurrency::State& state, std::uint32_t /*entries*/) {
  state.ends = numbers.get<std::int64_t>(plausible);
}

void get_state(Numbers& numbers, core::SlidingWindowLog::State& state, std::uint32_t entries) {
  const auto size = numbers.get<std::uint32_t>([](std::uint32_t n) { return n <= Limit::max_log_limit; });
  if (!numbers.result()) return;
  state.ring = core::LogRing::create(std::max(entries, size));
  if (!state.ring) return numbers.fail("cannot be read: out of memory");
  std::int64_t newest = core::never;
  for (std::uint32_t i = 0; i < size && numbers.result(); ++i) {
    newest = numbers.get<std::int64_t>([&](std::int64_t time) { return plausible(time) && time >= newest; });
    const auto cost =
        numbers.get<std::uint32_t>([](std::uint32_t c) { return c >= 1 && c <= 2 * Limit::max_log_limit; });
    state.ring->append(newest, cost);
  }
}

template <class Limit>
std::uint32_t entries_of(const Limit& limit) noexcept {
  if constexpr (std::is_same_v<Limit, core::SlidingWindowLog::Limit>) {
    return limit.max_entries();
  } else {
    return 0;
  }
}

template <class A, class Payload>
void put_cell(BlockWriter& out, const typename A::Limit& limit, Record record, std::uint64_t name, Payload& payload,
              std::int64_t now) {
  out.put(record);
  out.put(name);
  if constexpr (std::is_same_v<Payload, LogPayload>) {
    auto state = Packing<A, Payload>::unpack(limit, payload, now);
    put_state(out, state);
    payload = Packing<A, Payload>::pack(limit, state);
  } else {
    put_state(out, Packing<A, Payload>::unpack(limit, payload, now));
  }
}

// Writes the receipts of a table. Receipts of a live state are written with it, under its lock. They are followed by
// receipts whose state has expired or was never used, which cannot give anything back.
class ReceiptWriter {
 public:
  ReceiptWriter(BlockWriter& out, ReceiptTable& receipts, bool has_receipts) noexcept
      : out_(out), receipts_(receipts), has_receipts_(has_receipts) {}

  // A state that has moved may be written again, and the last record wins. An empty record therefore replaces an
  // earlier one.
  void put_with_state(StateName name) {
    if (!has_receipts_) return;
    bool is_put = false;
    receipts_.with(name, [&](core::Receipts& receipts) { put(name, receipts), is_put = true; });
    if (!is_put && written_.contains(key_of(name))) put(name, {});
  }
  void put_others() {
    if (!has_receipts_) return;
    receipts_.for_each([&](StateName name, const core::Receipts& receipts) {
      if (!written_.contains(key_of(name))) put(name, receipts);
    });
  }

 private:
  static std::uint64_t key_of(StateName name) noexcept { return name.is_shared ? ~name.value : name.value; }

  void put(StateName name, const core::Receipts& receipts) {
    written_.insert(key_of(name));
    out_.put(name.is_shared ? Record::shared_receipts : Record::key_receipts);
    out_.put(name.value);
    out_.put(static_cast<std::uint32_t>(receipts.open.size()));
    for (const core::Receipt& receipt : receipts.open) out_.put(receipt);
    out_.put(static_cast<std::uint32_t>(receipts.reported.size()));
    for (const core::ReportedId& reported : receipts.reported) out_.put(reported);
  }

  BlockWriter& out_;
  ReceiptTable& receipts_;
  const bool has_receipts_;
  std::unordered_set<std::uint64_t> written_;
};

template <class A, class Payload>
Result<void> put_cells(BlockWriter& out, const typename A::Limit& limit, Cells<Payload>& cells, ReceiptWriter& receipts,
                       std::int64_t now) {
  Result<void> written;
  cells.for_each(
      now,
      [&](KeyHash hash, Payload& payload) {
        put_cell<A>(out, limit, Record::key, hash.value, payload, now);
        receipts.put_with_state({hash.value, false});
      },
      [&] {
        if (written) written = out.write_full_blocks();
        return written.has_value();
      });
  for (unsigned i = 0; written && i < cells.overflow_cells(); ++i) {
    const Slot slot = cells.lock_overflow(i);
    if (!Cells<Payload>::payload(slot).dead(now)) {
      put_cell<A>(out, limit, Record::shared, i, Cells<Payload>::payload(slot), now);
      receipts.put_with_state({i, true});
    }
    unlock(slot);
  }
  receipts.put_others();
  return written;
}

// Stores a state in a locked cell and unlocks it. If there is no room for the state, its consumer shares an overflow
// state from then on, which keeps whichever of the two states has less remaining.
template <class A, class Payload>
void put_in(const typename A::Limit& limit, Cells<Payload>& cells, const Slot& slot, typename A::State state,
            Instant now) noexcept {
  {
    LockedState<A, Payload> locked(limit, cells, slot, now);
    const auto left = [&](const typename A::State& of) { return A::peek(limit, of, Cost{0}, now).remaining; };
    if (!slot.overflowed || left(state) <= left(locked.state())) locked.state() = std::move(state);
    locked.keep();
  }
  unlock(slot);
}

template <class A, class Payload>
Result<void> get_cell(BlockReader& in, Table& table, const typename A::Limit& limit, Cells<Payload>& cells,
                      Record record, Instant now) {
  Numbers numbers(in);
  const auto name = numbers.get<std::uint64_t>([](std::uint64_t) { return true; });
  typename A::State state;
  get_state(numbers, state, entries_of(limit));
  if (!numbers.result()) return numbers.result();
  A::carry_over(limit, state, now);
  if (A::forget_at(limit, state) <= now) return {};
  const Slot slot = record == Record::key ? cells.find_or_claim(KeyHash{name}, core::micros(now))
                                          : cells.lock_overflow(static_cast<unsigned>(name % cells.overflow_cells()));
  put_in<A>(limit, cells, slot, std::move(state), now);
  if (record == Record::key && slot.overflowed) table.count_overflow();
  return {};
}

Result<void> get_receipts(BlockReader& in, Table& table, Record record, Instant now) {
  Numbers numbers(in);
  const auto most = [](std::size_t n) { return [n](std::uint32_t size) { return size <= n; }; };
  const auto name = numbers.get<std::uint64_t>([](std::uint64_t) { return true; });
  core::Receipts receipts;
  const auto open = numbers.get<std::uint32_t>(most(core::Receipts::max_open));
  for (std::uint32_t i = 0; i < open && numbers.result(); ++i) {
    receipts.add(numbers.get<core::Receipt>([](const core::Receipt& receipt) {
      return plausible(receipt.at) && plausible(receipt.ends) && receipt.nths >= 0 && receipt.id;
    }));
  }
  const auto reported = numbers.get<std::uint32_t>(most(core::Receipts::max_reported));
  for (std::uint32_t i = 0; i < reported && numbers.result(); ++i) {
    receipts.add(
        numbers.get<core::ReportedId>([](const core::ReportedId& one) { return plausible(one.ends) && one.id; }));
  }
  if (!numbers.result()) return numbers.result();
  receipts.drop_ended(core::micros(now));
  table.receipts().replace({name, record == Record::shared_receipts}, std::move(receipts));
  return {};
}

template <class A, class Payload>
Result<void> get_cells(BlockReader& in, Table& table, const typename A::Limit& limit, Cells<Payload>& cells,
                       Instant now) {
  for (;;) {
    const Result<Record> record = in.get<Record>();
    if (!record) return tl::unexpected(record.error());
    if (*record == Record::end) return in.expect_end();
    if (*record == Record::key_receipts || *record == Record::shared_receipts) {
      if (auto done = get_receipts(in, table, *record, now); !done) return done;
      continue;
    }
    if (*record != Record::key && *record != Record::shared)
      return failure("snapshot", "is damaged: delete it to start without its states");
    if (auto done = get_cell<A>(in, table, limit, cells, *record, now); !done) return done;
  }
}

Result<Header> get_header(BlockReader& in, const std::filesystem::path& path) {
  const Result<Header> header = in.get<Header>();
  if (!header) return header;
  if (header->magic != magic) return failure(path.string(), "is not a Weir snapshot: delete it");
  if (header->version < siphash_version || header->version > newest_version) {
    return failure(path.string(), "has version " + std::to_string(header->version) + ", this weir reads versions " +
                                      std::to_string(siphash_version) + " to " + std::to_string(newest_version) +
                                      ": delete it to start without its states");
  }
  if (!can_hash(header->hash_key().kind)) {
    return failure(
        path.string(),
        "was saved on a processor with AES instructions, which this one lacks: delete it to start without its states");
  }
  return header;
}

Result<void> check_meaning(const Header& header, const std::filesystem::path& path, const core::Rule& rule) {
  if (header.algorithm == rule.index() && header.window == window_of(rule)) return {};
  return failure(path.string(),
                 "has states of another algorithm or window than this limit: delete it to start without its "
                 "states");
}

Header header_of(const Part& part, bool has_receipts) noexcept {
  const HashKey& key = part.table.hash_key();
  return {.magic = magic,
          .version = (key.kind == HashKind::aes ? aes_version : siphash_version) +
                     (has_receipts ? versions_without_receipts : 0),
          .algorithm = static_cast<std::uint32_t>(part.rule.index()),
          .window = window_of(part.rule),
          .first_of_key = key.first,
          .second_of_key = key.second};
}

Result<void> write(std::initializer_list<Part> parts, const std::filesystem::path& path, Instant now) {
  Result<BlockWriter> out = BlockWriter::create(path);
  if (!out) return tl::unexpected(out.error());
  const bool has_receipts = std::ranges::any_of(parts, [](const Part& part) { return !part.table.receipts().empty(); });
  out->put(header_of(*parts.begin(), has_receipts));
  for (const Part& part : parts) {
    ReceiptWriter receipts(*out, part.table.receipts(), has_receipts);
    const Result<void> written =
        part.table.with(part.rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
          return put_cells<A>(*out, of.limit, cells, receipts, core::micros(now));
        });
    if (!written) return written;
  }
  out->put(Record::end);
  return out->commit();
}

Result<void> read_cells(BlockReader& in, Table& table, const core::Rule& rule, const std::filesystem::path& path,
                        Instant now) {
  Result<void> got = table.with(rule, [&]<class A, class Payload>(const core::RuleOf<A>& of, Cells<Payload>& cells) {
    return get_cells<A>(in, table, of.limit, cells, now);
  });
  if (!got) got.error().where = path.string();
  return got;
}

Result<std::unique_ptr<Table>> read(const std::filesystem::path& path, const core::Rule& rule, std::size_t budget_bytes,
                                    Instant now) {
  Result<BlockReader> in = BlockReader::open(path);
  if (!in) return tl::unexpected(in.error());
  const Result<Header> header = get_header(*in, path);
  if (!header) return tl::unexpected(header.error());
  if (auto fits = check_meaning(*header, path, rule); !fits) return tl::unexpected(fits.error());
  auto table = Table::create(rule, budget_bytes, header->hash_key());
  if (!table) return table;
  if (auto got = read_cells(*in, **table, rule, path, now); !got) return tl::unexpected(got.error());
  return table;
}

Result<void> read_into(Table& fresh, const core::Rule& rule, const std::filesystem::path& path, Instant now) {
  Result<BlockReader> in = BlockReader::open(path);
  if (!in) return tl::unexpected(in.error());
  const Result<Header> header = get_header(*in, path);
  if (!header) return tl::unexpected(header.error());
  if (auto fits = check_meaning(*header, path, rule); !fits) return fits;
  if (header->hash_key() != fresh.hash_key()) {
    return failure(path.string(), "was saved under another hash key: delete it to start without its states");
  }
  return read_cells(*in, fresh, rule, path, now);
}

template <class A, class From, class To>
void move_cells(const typename A::Limit& from_limit, Cells<From>& from, const typename A::Limit& to_limit,
                Cells<To>& to, Instant now) {
  const std::int64_t micros = core::micros(now);
  const auto put = [&](const Slot& slot, const From& payload) {
    put_in<A>(to_limit, to, slot, Packing<A, From>::unpack(from_limit, payload, micros), now);
  };
  from.for_each(
      micros, [&](KeyHash hash, From& payload) { put(to.find_or_claim(hash, micros), payload); }, [] { return true; });
  for (unsigned i = 0; i < from.overflow_cells(); ++i) {
    const Slot slot = from.lock_overflow(i);
    const From payload = Cells<From>::payload(slot);
    unlock(slot);
    if (!payload.dead(micros)) put(to.lock_overflow(i % to.overflow_cells()), payload);
  }
}

}  // namespace

Result<void> save(Table& table, const core::Rule& rule, const std::filesystem::path& path, Instant now) {
  return save_together({{table, rule}}, path, now);
}

Result<void> save_together(std::initializer_list<Part> parts, const std::filesystem::path& path, Instant now) try {
  return write(parts, path, now);
} catch (const std::bad_alloc&) {
  return failure(path.string(), "cannot be written: out of memory");
}

Result<std::unique_ptr<Table>> restore(const std::filesystem::path& path, const core::Rule& rule,
                                       std::size_t budget_bytes, Instant now) try {
  return read(path, rule, budget_bytes, now);
} catch (const std::bad_alloc&) {
  return failure(path.string(), "cannot be read: out of memory");
}

Result<void> restore_into(Table& fresh, const core::Rule& rule, const std::filesystem::path& path, Instant now) try {
  return read_into(fresh, rule, path, now);
} catch (const std::bad_alloc&) {
  return failure(path.string(), "cannot be read: out of memory");
}

Result<HashKey> saved_hash_key(const std::filesystem::path& path) {
  Result<BlockReader> in = BlockReader::open(path);
  if (!in) return tl::unexpected(in.error());
  const Result<Header> header = get_header(*in, path);
  if (!header) return tl::unexpected(header.error());
  return header->hash_key();
}

void move_states(Table& from, const core::Rule& from_rule, Table& to, const core::Rule& to_rule, Instant now) {
  from.with(from_rule, [&]<class A, class From>(const core::RuleOf<A>& from_of, Cells<From>& from_cells) {
    to.with(to_rule, [&]<class B, class To>(const core::RuleOf<B>& to_of, Cells<To>& to_cells) {
      constexpr bool is_log = std::is_same_v<From, LogPayload> || std::is_same_v<To, LogPayload>;
      if constexpr (std::is_same_v<A, B> && !is_log) {
        move_cells<A>(from_of.limit, from_cells, to_of.limit, to_cells, now);
        from.receipts().for_each(
            [&](StateName name, core::Receipts& receipts) { to.receipts().replace(name, std::move(receipts)); });
      }
    });
  });
}

}  // namespace weir::table
