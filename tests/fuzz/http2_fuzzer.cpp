// Feeds an HTTP/2 server with any bytes in pieces of any size: its memory is bounded, and every complete request is
// answered once.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wire/grpc.h"
#include "wire/http2/server.h"

namespace {

using namespace weir::wire;
using weir::Header;

constexpr http2::Limits limits{.streams = 8,
                               .head_bytes = 512,
                               .body_bytes = 256,
                               .buffered_bytes = 2'048,
                               .unsent_bytes = 4'096,
                               .resets = 20,
                               .resets_per_second = 1};

constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

void require(bool holds) {
  if (!holds) std::abort();
}

void serve(http2::Server& server, http2::Exchange& exchange) {
  require(exchange.body().size() <= limits.body_bytes);
  if (!exchange.complete() || exchange.answered()) return;
  static_cast<void>(grpc::parse_timeout(exchange.field(http2::Field::grpc_timeout)));
  const auto step = grpc::first_message(exchange.body(), limits.body_bytes);
  require(step.consumed <= exchange.body().size());
  server.begin(exchange, std::array{Header{":status", "200"}});
  server.reply(exchange) += exchange.body();
  server.end(exchange, std::array{Header{"grpc-status", "0"}});
  require(exchange.answered());
}

void talk(std::string_view bytes, std::size_t piece) {
  http2::Server server(limits);
  std::string out;
  bool alive = true;
  while (alive && !bytes.empty() && !server.over()) {
    const std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    alive = server.receive(part);
    for (http2::Exchange* exchange : server.updated()) {
      if (!exchange->closed()) serve(server, *exchange);
    }
    require(server.open().size() <= limits.streams);
    server.write(out);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > 8'192) return 0;
  const std::size_t piece = 1 + data[0] % 64;
  std::string bytes(preface);
  bytes.append(data + 1, data + size);
  talk(bytes, bytes.size());
  talk(bytes, piece);
  talk(std::string_view(bytes).substr(preface.size()), bytes.size());
  return 0;
}
