// Listening: addresses, conflicts, connection limits, shutdown.
#include "net/listener.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <fstream>
#include <mutex>
#include <set>
#include <vector>

#include "tests/net/server.h"

namespace weir::net {
namespace {

std::string refusal(const Address& where, std::size_t count = 1) {
  auto loops = Loops::make(count);
  auto listener = Listener::open(**loops, where, {}, echo());
  EXPECT_FALSE(listener.has_value()) << where.text();
  return listener ? "" : listener.error().message();
}

TEST(Listener, AddressInUseIsAnError) {
  const Server server(echo());
  const std::string text = server.listener->bound().text();
  EXPECT_EQ(refusal(server.listener->bound()),
            text + ": address in use: another process listens on " + text + "; stop it or choose another port");
}

TEST(Listener, AddressSharedByOthersIsAnError) {
  const Server server(echo(), {}, 2);
  for (const std::size_t count : {1U, 2U}) {
    EXPECT_NE(refusal(server.listener->bound(), count).find("address in use"), std::string::npos);
  }
}

TEST(Listener, PortIsFreeImmediately) {
  const Address where = [] {
    const Server server(echo(), {}, 2);
    Client client = server.connect();
    EXPECT_EQ(client.ask("x"), "x");
    return server.listener->bound();
  }();
  const Server again(echo(), {}, 2, where);
  EXPECT_EQ(again.connect().ask("x"), "x");
}

TEST(Listener, AddressOfAnotherMachineIsAnError) {
  EXPECT_EQ(refusal(address("192.0.2.1:8080")),
            "192.0.2.1:8080: this machine has no address 192.0.2.1; `ip address` lists the available ones");
}

TEST(Listener, SeveralLoopsShareOnePort) {
  std::mutex mutex;
  std::set<std::size_t> seen;
  const auto make = [&](const Peer&, const Link& link) {
    const std::lock_guard lock(mutex);
    seen.insert(link.loop()->index());
    return std::make_unique<Echo>();
  };
  const Server server(make, {}, 3);
  ASSERT_TRUE(eventually([&] {
    EXPECT_EQ(server.connect().ask("x"), "x");
    const std::lock_guard lock(mutex);
    return seen.size() == 3;
  }));
}

TEST(Listener, UnixSocketDistributesEvenly) {
  const Folder folder;
  std::array<std::atomic<int>, 3> seen{};
  const auto make = [&](const Peer&, const Link& link) {
    ++seen.at(link.loop()->index());
    return std::make_unique<Echo>();
  };
  const Server server(make, {}, 3, folder.socket());
  for (int i = 0; i < 30; ++i) EXPECT_EQ(server.connect().ask("x"), "x");
  for (const auto& count : seen) EXPECT_EQ(count, 10);
}

TEST(Listener, StaleUnixSocketIsReplaced) {
  const Folder folder;
  const Address where = folder.socket();
  {
    const Descriptor stale(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(stale.number(), where.system(), where.system_size()), 0);
  }
  const Server server(echo(), {}, 1, where);
  EXPECT_EQ(server.connect().ask("x"), "x");
}

TEST(Listener, UnixSocketInUseIsAnError) {
  const Folder folder;
  const Server server(echo(), {}, 1, folder.socket());
  EXPECT_NE(refusal(folder.socket()).find("address in use: another process listens on unix:"), std::string::npos);
  EXPECT_EQ(server.connect().ask("x"), "x");
}

TEST(Listener, FileThatIsNotASocketIsNotReplaced) {
  const Folder folder;
  std::ofstream(folder.file("s")) << "precious";
  EXPECT_NE(refusal(folder.socket()).find("is not a socket; remove it or choose another path"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(folder.file("s")), 8U);
  EXPECT_NE(refusal(address("unix:" + folder.file("none/s"))).find("create the directory first"), std::string::npos);
}

TEST(Listener, UnixSocketHasItsModeAndLeavesNoFile) {
  const Folder folder;
  for (const mode_t mode : {0600U, 0666U}) {
    ListenOptions options;
    options.unix_mode = mode;
    const Server server(echo(), options, 1, folder.socket());
    struct stat status{};
    ASSERT_EQ(::stat(folder.file("s").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, mode);
  }
  EXPECT_FALSE(std::filesystem::exists(folder.file("s")));
}

TEST(Listener, SuccessorsSocketFileIsNotRemoved) {
  const Folder folder;
  auto first = std::make_unique<Server>(echo(), ListenOptions{}, 1, folder.socket());
  std::filesystem::remove(folder.file("s"));
  const Server second(echo(), {}, 1, folder.socket());
  first.reset();
  EXPECT_EQ(second.connect().ask("x"), "x");
}

TEST(Listener, ConnectionsBeyondTheLimitAreClosedImmediately) {
  ListenOptions options;
  options.max_connections = 2;
  const Server server(echo(), options, 2);
  Client first = server.connect();
  Client second = server.connect();
  EXPECT_EQ(first.ask("x"), "x");
  EXPECT_EQ(second.ask("x"), "x");
  EXPECT_EQ(server.connect().receive_to_end(), "");
  EXPECT_EQ(server.counts().refused, 1U);
  EXPECT_EQ(server.counts().open, 2U);
  first.close();
  ASSERT_TRUE(eventually([&] { return server.counts().open == 1; }));
  EXPECT_EQ(server.connect().ask("x"), "x");
}

TEST(Listener, RetriesWhenOutOfDescriptors) {
  const Server server(echo());
  Client client(AF_INET);
  EXPECT_EQ(server.connect().ask("x"), "x");
  ASSERT_TRUE(eventually([&] { return server.counts().open == 0; }));
  // UndefinedBehaviorSanitizer needs a pipe for each new type, so the loop's timer must run before.
  std::atomic<bool> ticked = false;
  Loop& loop = (*server.loops)[0];
  loop.run([&] { loop.every_tick([&](auto) { return !(ticked = true); }); });
  ASSERT_TRUE(eventually([&] { return ticked.load(); }));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(client.number());  // all lower numbers are in use
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  std::vector<Descriptor> fillers;
  while (true) {
    Descriptor filler(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!filler.open()) break;
    fillers.push_back(std::move(filler));
  }
  client.connect(server.listener->bound());
  EXPECT_TRUE(eventually([&] { return server.counts().accept_failures >= 3; }));
  const auto since = std::chrono::steady_clock::now();
  const auto failures = server.counts().accept_failures;
  EXPECT_TRUE(eventually([&] { return server.counts().accept_failures >= failures + 5; }));
  EXPECT_GE(std::chrono::steady_clock::now() - since, 15ms) << "five ticks of 5 ms: no busy loop";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(client.ask("x"), "x");
}

TEST(Address, TextRoundTrips) {
  for (const char* text : {"127.0.0.1:8080", "0.0.0.0:0", "[::1]:65535", "[::]:1", "unix:/run/weir.sock"}) {
    EXPECT_EQ(address(text).text(), text);
  }
  EXPECT_EQ(address("localhost:80").text(), "127.0.0.1:80");
  for (const char* text : {"127.1.2.3:1", "[::1]:1", "unix:/x", "[::ffff:127.0.0.1]:1"}) {
    EXPECT_TRUE(address(text).local()) << text;
  }
  for (const char* text : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "[::ffff:10.0.0.1]:1"}) {
    EXPECT_FALSE(address(text).local()) << text;
  }
}

TEST(Address, InvalidTextIsAnErrorWithAHint) {
  const std::string forms = "; write 127.0.0.1:8080, [::1]:8080, localhost:8080 or unix:/run/weir.sock";
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", ": missing port" + forms},
      {"127.0.0.1", "127.0.0.1: missing port" + forms},
      {"127.0.0.1:", "127.0.0.1:: invalid port, expected 0 to 65535" + forms},
      {"127.0.0.1:65536", "127.0.0.1:65536: invalid port, expected 0 to 65535" + forms},
      {"127.0.0.1:-1", "127.0.0.1:-1: invalid port, expected 0 to 65535" + forms},
      {"example.org:80", "example.org:80: not an IP address (host names are not resolved here)" + forms},
      {"::1:80", "::1:80: not an IP address (host names are not resolved here)" + forms},
      {"[::g]:80", "[::g]:80: not an IPv6 address" + forms},
      {"unix:", "unix:: missing path" + forms},
  };
  for (const auto& [text, message] : rows) {
    const auto parsed = Address::parse(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().message(), message);
  }
  EXPECT_FALSE(Address::parse("unix:/" + std::string(107, 'x')).has_value());
  EXPECT_TRUE(Address::parse("unix:/" + std::string(106, 'x')).has_value());
}

TEST(Loops, RequireACountAndATick) {
  EXPECT_FALSE(Loops::make(0).has_value());
  EXPECT_FALSE(Loops::make(1, 0ms).has_value());
}

TEST(Loops, PostedWorkRunsInOrderOnTheLoopsThread) {
  auto loops = Loops::make(2);
  ASSERT_TRUE((*loops)->start().has_value());
  Loop& loop = (**loops)[1];
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) loop.post([&, i] { order.push_back(i); });
  std::size_t seen = 0;
  loop.run([&] { loop.run([&] { seen = order.size(); }); });
  EXPECT_EQ(seen, 100U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  (*loops)->stop();
  loop.run([&] { seen = 0; });
  EXPECT_EQ(seen, 0U) << "stopped: here and now";
}

}  // namespace
}  // namespace weir::net
