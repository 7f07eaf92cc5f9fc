// A warm connection reads, answers and writes without an allocation.
#include <array>
#include <span>

#include "tests/allocations.h"
#include "tests/net/server.h"

namespace weir::net {
namespace {

// Avoids std::string, whose allocations would be counted.
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
               answered(one, batch, buffer) && answered(other, "PING\n", buffer) && answered(one, batch, buffer) &&
               answered(other, batch, buffer);
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
