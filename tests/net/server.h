// A test server and its sessions.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/listener.h"
#include "net/loop.h"
#include "net/session.h"
#include "tests/net/client.h"

namespace weir::net {

using namespace std::chrono_literals;

inline Address address(std::string_view text) {
  auto parsed = Address::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return *parsed;
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "weir-net-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }
  [[nodiscard]] Address socket() const { return address("unix:" + file("s")); }

 private:
  std::filesystem::path path_;
};

struct Server {
  explicit Server(MakeSession make_session, ListenOptions options = {}, std::size_t count = 1,
                  const Address& where = address("127.0.0.1:0")) {
    auto made = Loops::make(count, 5ms);
    EXPECT_TRUE(made.has_value());
    loops = std::move(*made);
    auto opened = Listener::open(*loops, where, std::move(options), std::move(make_session));
    EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message());
    listener = std::move(*opened);
    EXPECT_TRUE(loops->start().has_value());
  }

  [[nodiscard]] Client connect() const { return Client(listener->bound()); }
  [[nodiscard]] ListenerCounts counts() const { return listener->counts(); }

  std::unique_ptr<Loops> loops;
  std::unique_ptr<Listener> listener;
};

class Echo : public Session {
 public:
  std::size_t on_input(std::span<char> input, Output& out) override {
    const std::string_view bytes(input.data(), input.size());
    out.append(bytes);
    return bytes.size();
  }
};

inline MakeSession echo() {
  return [](const Peer&, const Link&) { return std::make_unique<Echo>(); };
}

// Echoes complete lines and counts reads.
struct LineCounts {
  std::atomic<int> calls = 0;
  std::atomic<int> lines = 0;
  std::atomic<int> ends = 0;
  std::atomic<int> sessions = 0;
};

class Lines : public Session {
 public:
  explicit Lines(LineCounts& counts) : counts_(counts) { ++counts_.sessions; }
  ~Lines() override { --counts_.sessions; }

  std::size_t on_input(std::span<char> input, Output& out) override {
    const std::string_view bytes(input.data(), input.size());
    ++counts_.calls;
    std::size_t done = 0;
    for (std::size_t end = 0; (end = bytes.find('\n', done)) != std::string_view::npos && !out.full(); done = end + 1) {
      ++counts_.lines;
      answer(bytes.substr(done, end + 1 - done), out);
    }
    return done;
  }
  void on_end(Output& /*out*/) override { ++counts_.ends; }

 protected:
  virtual void answer(std::string_view line, Output& out) { out.append(line); }

 private:
  LineCounts& counts_;
};

inline MakeSession lines(LineCounts& counts) {
  return [&counts](const Peer&, const Link&) { return std::make_unique<Lines>(counts); };
}

}  // namespace weir::net
