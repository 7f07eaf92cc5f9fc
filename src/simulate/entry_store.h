// Entries that are kept for a while, and their texts, in chunks of memory that are used again: a log that is
// nearly in order frees them nearly in the order in which it filled them.
//
// Each chunk counts the entries in it that are still kept; at zero it is free. One thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "simulate/log_entry.h"

namespace weir::simulate {

class EntryStore {
 public:
  struct Chunk;

  struct Kept {
    LogEntry* entry = nullptr;
    Chunk* chunk = nullptr;
  };

  EntryStore();
  ~EntryStore();
  EntryStore(EntryStore&&) noexcept;
  EntryStore& operator=(EntryStore&&) noexcept;

  // A copy with texts of its own.
  [[nodiscard]] Kept keep(const LogEntry& entry);

  // `kept` is from keep(), and is given back once.
  void release(Kept kept) noexcept;

  // Of all chunks with an entry in them.
  [[nodiscard]] std::size_t bytes_in_use() const noexcept { return bytes_in_use_; }

 private:
  [[nodiscard]] Chunk* chunk_with_room(std::size_t size);
  void retire(Chunk* chunk) noexcept;

  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Chunk*> free_;
  Chunk* filling_ = nullptr;
  std::size_t bytes_in_use_ = 0;
};

}  // namespace weir::simulate
