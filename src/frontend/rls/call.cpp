#include "frontend/rls/call.h"

#include <array>
#include <string>

namespace weir::frontend {
namespace {

using Kind = wire::grpc::MessageStep::Kind;

constexpr Header ok_status{":status", "200"};
constexpr Header grpc_content_type{"content-type", "application/grpc"};

}  // namespace

std::span<const Header> response_head() noexcept {
  static constexpr std::array head{ok_status, grpc_content_type};
  return head;
}

void finish(wire::http2::Server& server, Exchange& exchange, Status status, std::string_view why) {
  const Header code{"grpc-status", text_of(status)};
  if (status == Status::ok) {
    server.end(exchange, std::array{code});
    return;
  }
  const std::string text = wire::grpc::encode_message(why);
  const Header message{"grpc-message", text};
  if (exchange.answered()) {
    server.end(exchange, std::array{code, message});
  } else if (status == Status::unimplemented) {
    server.refuse(exchange,
                  std::array{ok_status, grpc_content_type, Header{"grpc-accept-encoding", "identity"}, code, message});
  } else {
    server.refuse(exchange, std::array{ok_status, grpc_content_type, code, message});
  }
}

bool sole_message(wire::http2::Server& server, Exchange& exchange, std::size_t max_size, std::string_view& message) {
  const auto step = wire::grpc::first_message(exchange.body(), max_size);
  if (step.kind != Kind::whole && !(step.kind == Kind::partial && exchange.body().empty())) {
    refuse_message(server, exchange, step.kind);
    return false;
  }
  if (step.consumed == 0 || step.consumed < exchange.body().size()) {
    finish(server, exchange, Status::unimplemented, "this method takes exactly one message");
    return false;
  }
  message = step.message;
  return true;
}

void refuse_message(wire::http2::Server& server, Exchange& exchange, Kind kind) {
  switch (kind) {
    case Kind::compressed:
      return finish(server, exchange, Status::unimplemented, "compressed messages are not supported");
    case Kind::too_long:
      return finish(server, exchange, Status::resource_exhausted, "message too long");
    case Kind::malformed:
      return finish(server, exchange, Status::internal, "invalid compressed flag: must be 0 or 1");
    case Kind::partial:
      return finish(server, exchange, Status::internal, "incomplete message");
    case Kind::whole:
      return;
  }
}

}  // namespace weir::frontend
