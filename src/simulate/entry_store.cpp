#include "simulate/entry_store.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace weir::simulate {
namespace {

constexpr std::size_t chunk_size = std::size_t{256} << 10;

static_assert(std::is_trivially_destructible_v<LogEntry> && std::is_trivially_destructible_v<Header>);
static_assert(alignof(LogEntry) % alignof(Header) == 0 && sizeof(LogEntry) % alignof(Header) == 0);

constexpr std::array texts_of_entry{&LogEntry::ip,   &LogEntry::user,   &LogEntry::api_key,
                                    &LogEntry::tier, &LogEntry::method, &LogEntry::target};

std::size_t size_of(const LogEntry& entry) noexcept {
  std::size_t size = sizeof(LogEntry) + entry.headers.size_bytes();
  for (const auto text : texts_of_entry) size += (entry.*text).size();
  for (const Header& header : entry.headers) size += header.name.size() + header.value.size();
  constexpr std::size_t alignment = alignof(LogEntry);
  return (size + alignment - 1) / alignment * alignment;
}

// Writes texts one behind the other.
class TextWriter {
 public:
  explicit TextWriter(std::byte* to) noexcept : to_(reinterpret_cast<char*>(to)) {}

  void move_in(std::string_view& text) noexcept {
    if (text.empty()) {
      text = {};
      return;
    }
    std::memcpy(to_, text.data(), text.size());
    text = {to_, text.size()};
    to_ += text.size();
  }

 private:
  char* to_;
};

}  // namespace

struct EntryStore::Chunk {
  explicit Chunk(std::size_t size) : memory(std::make_unique_for_overwrite<std::byte[]>(size)), capacity(size) {}

  std::unique_ptr<std::byte[]> memory;
  std::size_t capacity;
  std::size_t used = 0;
  std::size_t kept = 0;
};

EntryStore::EntryStore() = default;
EntryStore::~EntryStore() = default;
EntryStore::EntryStore(EntryStore&&) noexcept = default;
EntryStore& EntryStore::operator=(EntryStore&&) noexcept = default;

EntryStore::Kept EntryStore::keep(const LogEntry& entry) {
  const std::size_t size = size_of(entry);
  Chunk* const chunk = chunk_with_room(size);
  std::byte* const place = chunk->memory.get() + chunk->used;
  chunk->used += size;
  if (chunk->kept++ == 0) bytes_in_use_ += chunk->capacity;

  auto* const copy = new (place) LogEntry(entry);
  TextWriter writer(place + sizeof(LogEntry) + entry.headers.size_bytes());
  for (const auto text : texts_of_entry) writer.move_in(copy->*text);
  if (!entry.headers.empty()) {
    auto* const headers = reinterpret_cast<Header*>(place + sizeof(LogEntry));
    for (std::size_t i = 0; i < entry.headers.size(); ++i) {
      new (headers + i) Header(entry.headers[i]);
      writer.move_in(headers[i].name);
      writer.move_in(headers[i].value);
    }
    copy->headers = {headers, entry.headers.size()};
  }
  return {copy, chunk};
}

void EntryStore::release(Kept kept) noexcept {
  Chunk* const chunk = kept.chunk;
  if (--chunk->kept > 0) return;
  bytes_in_use_ -= chunk->capacity;
  chunk->used = 0;
  if (chunk != filling_) retire(chunk);
}

// An empty chunk: for later, or, if it was made for one large entry, away.
void EntryStore::retire(Chunk* chunk) noexcept {
  if (chunk->capacity == chunk_size) {
    free_.push_back(chunk);
  } else {
    std::erase_if(chunks_, [chunk](const auto& owned) { return owned.get() == chunk; });
  }
}

EntryStore::Chunk* EntryStore::chunk_with_room(std::size_t size) {
  if (filling_ != nullptr && filling_->capacity - filling_->used >= size) return filling_;
  if (filling_ != nullptr && filling_->kept == 0) retire(filling_);
  if (size <= chunk_size && !free_.empty()) {
    filling_ = free_.back();
    free_.pop_back();
  } else {
    chunks_.push_back(std::make_unique<Chunk>(std::max(size, chunk_size)));
    free_.reserve(chunks_.size());  // so that retiring one cannot fail
    filling_ = chunks_.back().get();
  }
  return filling_;
}

}  // namespace weir::simulate
