// The upper bound for a listener: every request is parsed and answered with a constant, on the event loop and with the
// codecs of `weir serve`. Nothing is looked up, decided or counted.
//
//   constant_server PORT resp|grpc
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/listener.h"
#include "net/loop.h"
#include "net/session.h"
#include "weir/header.h"
#include "wire/grpc.h"
#include "wire/http2/server.h"
#include "wire/resp/command_parser.h"

namespace {

using namespace weir;

// Answers any command like CL.THROTTLE.
class Resp final : public net::Session {
 public:
  std::size_t on_input(std::span<char> bytes, net::Output& out) override {
    using Status = wire::resp::CommandParser::Status;
    std::string_view unread(bytes.data(), bytes.size());
    while (!out.full()) {
      const auto step = parser_.next(unread);
      unread.remove_prefix(step.consumed);
      if (step.status == Status::need_more) break;
      if (step.status != Status::command) {
        out.close_after();
        break;
      }
      out.append("*5\r\n:0\r\n:16\r\n:15\r\n:-1\r\n:2\r\n");
    }
    return bytes.size() - unread.size();
  }

 private:
  wire::resp::CommandParser parser_;
};

// Answers any call with a RateLimitResponse: OK, with two descriptors.
class Grpc final : public net::Session {
 public:
  std::size_t on_input(std::span<char> bytes, net::Output& out) override {
    static constexpr std::array head{Header{":status", "200"}, Header{"content-type", "application/grpc"}};
    static constexpr std::array trailers{Header{"grpc-status", "0"}};
    const bool alive = server_.receive(bytes);
    std::size_t made = 0;
    for (wire::http2::Exchange* exchange : server_.updated()) {
      if (exchange->closed() || exchange->answered() || !exchange->complete()) continue;
      server_.begin(*exchange, head);
      std::string& reply = server_.reply(*exchange);
      wire::grpc::append_message(reply, [&] { reply += "\x08\x01\x12\x02\x08\x01\x12\x02\x08\x01"; });
      server_.end(*exchange, trailers);
      if (++made % 8 == 0) server_.write_answers(out.bytes());
    }
    server_.write(out.bytes());
    if (!alive || server_.over()) out.close_after();
    return bytes.size();
  }

 private:
  wire::http2::Server server_;
};

int fail(const std::string& why) {
  std::cerr << "constant_server: " << why << '\n';
  return EXIT_FAILURE;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view protocol = count == 3 ? arguments[2] : "";
  if (protocol != "resp" && protocol != "grpc") return fail("usage: constant_server PORT resp|grpc");
  auto loops = net::Loops::make(1);
  const auto address = net::Address::parse(std::string("127.0.0.1:") + arguments[1]);
  if (!loops || !address) return fail("no loop, or no such port");
  const auto listener = net::Listener::open(**loops, *address, {},
                                            [&](const net::Peer&, const net::Link&) -> std::unique_ptr<net::Session> {
                                              if (protocol == "resp") return std::make_unique<Resp>();
                                              return std::make_unique<Grpc>();
                                            });
  if (!listener) return fail(listener.error().message());
  if (!(*loops)->start()) return fail("the loop does not start");
  ::pause();
}
