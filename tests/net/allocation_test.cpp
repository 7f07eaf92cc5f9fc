// A warm connection reads, answers and writes without an allocation.
#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <span>

#include "tests/net/server.h"

namespace {
std::atomic<std::uint64_t> allocations{0};
}  // namespace

// All forms of new end in one of these two. Where g++ inlines one of a pair, it takes free for a mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const auto align = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(align, (bytes + align - 1) / align * align)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace weir::net {
namespace {

// Without a std::string on the way, which would be counted, too.
bool answered(Client& client, std::string_view text, std::span<char> buffer) {
  client.send(text);
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t count = ::recv(client.number(), buffer.data(), buffer.size(), 0);
    if (count <= 0) return false;
    got += static_cast<std::size_t>(count);
  }
  return true;
}

TEST(Allocation, WarmConnectionsAllocateNothing) {
  const Folder folder;
  for (const Address& where : {address("127.0.0.1:0"), folder.socket()}) {
    LineCounts counts;
    const Server server(lines(counts), {}, 1, where);
    Client one = server.connect();
    Client other = server.connect();
    std::string batch;
    for (int i = 0; i < 64; ++i) batch += "*3\r\n$11\r\nCL.THROTTLE\r\n$3\r\nkey\n";
    std::array<char, 16384> buffer;
    const auto talk = [&] {
      bool fine = true;
      for (int i = 0; i < 500; ++i) {
        fine = fine && answered(one, "PING\n", buffer) && answered(other, batch, buffer) &&
               answered(one, batch, buffer) && answered(other, "PING\n", buffer);
      }
      return fine;
    };
    ASSERT_TRUE(talk());
    const std::uint64_t before = allocations.load();
    const bool fine = talk();
    EXPECT_EQ(allocations.load() - before, 0U) << where.text();
    EXPECT_TRUE(fine);
  }
}

}  // namespace
}  // namespace weir::net
