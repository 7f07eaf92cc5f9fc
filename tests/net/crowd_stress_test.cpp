// Thousands of connections, opened and closed in every way, leave nothing behind.
#include <dirent.h>
#include <sys/resource.h>

#include <thread>
#include <vector>

#include "tests/net/server.h"

namespace weir::net {
namespace {

std::size_t open_descriptors() {
  DIR* const folder = ::opendir("/proc/self/fd");
  std::size_t count = 0;
  while (::readdir(folder) != nullptr) ++count;  // NOLINT(concurrency-mt-unsafe): no other thread reads it
  ::closedir(folder);
  return count;
}

TEST(Crowd, ThousandsComeAndGo) {
  const std::size_t before = open_descriptors();
  {
    LineCounts counts;
    const Server server(lines(counts), {}, 2);
    std::vector<std::thread> clients;
    for (int t = 0; t < 2; ++t) {
      clients.emplace_back([&, t] {
        for (int i = 0; i < 2500; ++i) {
          Client client = server.connect();
          switch ((i + t) % 5) {
            case 0:
              break;  // sends nothing
            case 1:
              client.send("half a li");
              break;  // sends an incomplete line
            case 2:
              client.ask("line\n");
              break;
            case 3:
              client.send("line\n");
              break;  // does not wait for the response
            default:
              client.ask("line\n");
              client.reset();
          }
        }
      });
    }
    for (std::thread& client : clients) client.join();
    EXPECT_TRUE(
        eventually([&] { return server.counts().accepted == 5000; }));  // some were closed before they were accepted
    EXPECT_TRUE(eventually([&] { return server.counts().open == 0 && counts.sessions == 0; }));
    EXPECT_EQ(server.connect().ask("still here\n"), "still here\n");
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Crowd, ManyAreOpenAtOnce) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8192);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  const std::size_t count = std::min<std::size_t>(limit.rlim_cur / 2 - 100, 3000);
  const Server server(echo(), {}, 2);
  std::vector<Client> clients;
  for (std::size_t i = 0; i < count; ++i) clients.push_back(server.connect());
  for (Client& client : clients) client.send("x");
  for (Client& client : clients) ASSERT_EQ(client.receive(1), "x");
  EXPECT_EQ(server.counts().open, count);
  EXPECT_EQ(server.listener->drain(20s), 0U);
  for (Client& client : clients) ASSERT_EQ(client.receive_to_end(), "");
}

}  // namespace
}  // namespace weir::net
