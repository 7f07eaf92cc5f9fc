// Answers gRPC calls over HTTP/2.
#pragma once

#include <span>
#include <string_view>

#include "weir/header.h"
#include "wire/grpc.h"
#include "wire/http2/server.h"

namespace weir::frontend {

using wire::grpc::Status;
using wire::http2::Exchange;

// The header block of a response with messages.
[[nodiscard]] std::span<const Header> response_head() noexcept;

// Ends a call. `why` is the grpc-message of a failure.
void finish(wire::http2::Server& server, Exchange& exchange, Status status, std::string_view why = {});

// Sends a message, which `write(out)` appends.
template <class Write>
void send_message(wire::http2::Server& server, Exchange& exchange, const Write& write) {
  if (!exchange.answered()) server.begin(exchange, response_head());
  std::string& out = server.reply(exchange);
  wire::grpc::append_message(out, [&] { write(out); });
  server.send(exchange);
}

// Sends a unary response.
template <class Write>
void answer(wire::http2::Server& server, Exchange& exchange, const Write& write) {
  send_message(server, exchange, write);
  finish(server, exchange, Status::ok);
}

// Reads the message of a unary request. Otherwise ends the call with an error and returns false.
[[nodiscard]] bool sole_message(wire::http2::Server& server, Exchange& exchange, std::size_t max_size,
                                std::string_view& message);

// Ends a call that sent an invalid message.
void refuse_message(wire::http2::Server& server, Exchange& exchange, wire::grpc::MessageStep::Kind kind);

}  // namespace weir::frontend
