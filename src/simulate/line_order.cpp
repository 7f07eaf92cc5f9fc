#include "simulate/line_order.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

namespace weir::simulate {
namespace {

using std::chrono::seconds;

constexpr std::size_t chunk_size = std::size_t{256} << 10;

static_assert(std::is_trivially_destructible_v<LogEntry> && std::is_trivially_destructible_v<Header>);
static_assert(alignof(LogEntry) % alignof(Header) == 0 && sizeof(LogEntry) % alignof(Header) == 0);

// Calls work(text) for each text of an entry.
template <class Entry, class Work>
[[gnu::always_inline]] inline void for_each_text(Entry& entry, Work&& work) {
  work(entry.ip);
  work(entry.user);
  work(entry.api_key);
  work(entry.tier);
  work(entry.method);
  work(entry.target);
}

std::size_t size_of(const LogEntry& entry) noexcept {
  std::size_t size = sizeof(LogEntry) + entry.headers.size_bytes();
  for_each_text(entry, [&](std::string_view text) { size += text.size(); });
  for (const Header& header : entry.headers) size += header.name.size() + header.value.size();
  constexpr std::size_t alignment = alignof(LogEntry);
  return (size + alignment - 1) / alignment * alignment;
}

// Copies `text` to `to`, makes it a view of the copy, and advances `to`. Most entries lack some texts.
[[gnu::always_inline]] inline void move_in(std::string_view& text, char*& to) noexcept {
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  text = {to, text.size()};
  to += text.size();
}

// Returns how long entries wait. The entries of a second can be spread only after all of them have arrived, up to
// `span` late.
Duration delay_for(const OrderBounds& bounds, WholeSeconds whole_seconds) noexcept {
  const Duration span = std::max(bounds.span, Duration::zero());
  return whole_seconds == WholeSeconds::spread ? span + seconds{1} : span;
}

}  // namespace

EntryStore::Stored EntryStore::add(const LogEntry& entry) {
  const std::size_t size = size_of(entry);
  Chunk* const chunk = chunk_with_room(size);
  std::byte* const memory = chunk->memory.get() + chunk->used;
  chunk->used += size;
  if (chunk->live++ == 0) bytes_in_use_ += chunk->capacity;

  auto* const copy = new (memory) LogEntry(entry);
  auto* texts = reinterpret_cast<char*>(memory + sizeof(LogEntry) + entry.headers.size_bytes());
  for_each_text(*copy, [&](std::string_view& text) { move_in(text, texts); });
  if (!entry.headers.empty()) {
    auto* const headers = reinterpret_cast<Header*>(memory + sizeof(LogEntry));
    for (std::size_t i = 0; i < entry.headers.size(); ++i) {
      new (headers + i) Header(entry.headers[i]);
      move_in(headers[i].name, texts);
      move_in(headers[i].value, texts);
    }
    copy->headers = {headers, entry.headers.size()};
  }
  return {copy, chunk};
}

void EntryStore::release(Stored stored) noexcept {
  Chunk* const chunk = stored.chunk;
  if (--chunk->live > 0) return;
  bytes_in_use_ -= chunk->capacity;
  chunk->used = 0;
  if (chunk != filling_) retire(chunk);
}

// Returns an empty chunk to the pool, or frees it if it was made for one large entry.
void EntryStore::retire(Chunk* chunk) noexcept {
  if (chunk->capacity == chunk_size) {
    chunks_.release(*chunk);
  } else {
    std::erase_if(large_, [chunk](const auto& owned) { return owned.get() == chunk; });
  }
}

EntryStore::Chunk* EntryStore::chunk_with_room(std::size_t size) {
  if (filling_ != nullptr && filling_->capacity - filling_->used >= size) return filling_;
  if (filling_ != nullptr && filling_->live == 0) retire(filling_);
  filling_ =
      size <= chunk_size ? &chunks_.acquire(chunk_size) : large_.emplace_back(std::make_unique<Chunk>(size)).get();
  return filling_;
}

LineOrder::LineOrder(OrderBounds bounds, WholeSeconds seconds) noexcept
    : bounds_(bounds), seconds_(seconds), delay_(delay_for(bounds, seconds)) {}

void LineOrder::push(const LogEntry& entry) {
  Waiting waiting{entry.at, pushed_++, store_.add(entry)};
  if (waiting.at < newest_) ++out_of_order_;
  newest_ = std::max(newest_, waiting.at);
  if (waiting.at < last_stamp_) {
    ++late_;
    waiting.at = last_stamp_;
  }
  if (run_begin_ == run_.size() || waiting.at >= run_.back().at) {
    run_.push_back(waiting);
  } else {
    strays_.push_back(waiting);
    std::ranges::push_heap(strays_, later);
  }
}

const LogEntry* LineOrder::pop() {
  if (waiting() == 0) return nullptr;
  const bool stray = stray_is_next();
  const Waiting& next = stray ? strays_.front() : run_[run_begin_];
  if (!may_leave(next)) return nullptr;
  const Instant time = time_of(next);
  last_stamp_ = next.at;
  last_time_ = time;
  EntryStore::Stored& lent = lent_[next_lent_++ % max_lent];
  if (lent.entry != nullptr) store_.release(lent);
  lent = take(stray).stored;
  lent.entry->at = time;
  return lent.entry;
}

bool LineOrder::stray_is_next() const noexcept {
  if (strays_.empty()) return false;
  return run_begin_ == run_.size() || strays_.front().before(run_[run_begin_]);
}

bool LineOrder::may_leave(const Waiting& next) {
  if (finished_ || newest_ - next.at >= delay_) return true;
  if (waiting() <= bounds_.max_entries && store_.bytes_in_use() <= bounds_.max_bytes) return false;
  ++left_early_;
  return true;
}

LineOrder::Waiting LineOrder::take(bool stray) {
  if (stray) {
    std::ranges::pop_heap(strays_, later);
    const Waiting taken = strays_.back();
    strays_.pop_back();
    return taken;
  }
  const Waiting taken = run_[run_begin_++];
  // Erases popped entries when they make up more than half, so that each entry is moved at most once.
  if (run_begin_ * 2 > run_.size()) {
    run_.erase(run_.begin(), run_.begin() + static_cast<std::ptrdiff_t>(run_begin_));
    run_begin_ = 0;
  }
  return taken;
}

std::size_t LineOrder::count_waiting_at(Instant at) const noexcept {
  auto count = static_cast<std::size_t>(std::ranges::count(strays_, at, &Waiting::at));
  for (std::size_t i = run_begin_; i < run_.size() && run_[i].at == at; ++i) ++count;
  return count;
}

// Returns the entry's stamp or, if seconds are spread, its position in the second; never earlier than the last entry
// that left.
Instant LineOrder::time_of(const Waiting& next) {
  Instant time = next.at;
  if (seconds_ == WholeSeconds::spread && next.stored.entry->grain == Grain::second) {
    if (next.at != second_) {
      second_ = next.at;
      second_size_ = count_waiting_at(next.at);
      second_left_ = 0;
    }
    // Entries that arrive after the count share the last position.
    const std::size_t index = std::min(second_left_++, second_size_ - 1);
    time += Duration{seconds{1}} * static_cast<Duration::rep>(index) / static_cast<Duration::rep>(second_size_);
  }
  return std::max(time, last_time_);
}

}  // namespace weir::simulate
