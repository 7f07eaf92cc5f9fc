// How a gRPC call is answered over HTTP/2.
#pragma once

#include <span>
#include <string_view>

#include "weir/header.h"
#include "wire/grpc.h"
#include "wire/http2/server.h"

namespace weir::frontend {

using wire::grpc::Status;
using wire::http2::Exchange;

// The head of every answer that has a message.
[[nodiscard]] std::span<const Header> answer_head() noexcept;

// The end of a call that went well, or did not go on.
void finish(wire::http2::Server& server, Exchange& exchange, Status status, std::string_view why = {});

// `write(out)` appends the message.
template <class Write>
void say(wire::http2::Server& server, Exchange& exchange, const Write& write) {
  if (!exchange.answered()) server.begin(exchange, answer_head());
  std::string& out = server.reply(exchange);
  wire::grpc::append_message(out, [&] { write(out); });
  server.send(exchange);
}

// A unary answer.
template <class Write>
void answer(wire::http2::Server& server, Exchange& exchange, const Write& write) {
  say(server, exchange, write);
  finish(server, exchange, Status::ok);
}

// The one message of a unary request. Without one, and with more, it is refused here; then it is false.
[[nodiscard]] bool sole_message(wire::http2::Server& server, Exchange& exchange, std::size_t longest,
                                std::string_view& message);

// Ends a call whose next message is none.
void refuse_message(wire::http2::Server& server, Exchange& exchange, wire::grpc::MessageStep::Kind kind);

}  // namespace weir::frontend
