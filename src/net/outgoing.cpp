#include "net/outgoing.h"

#include <utility>

#include "net/outgoing_connection.h"

namespace weir::net {

Outgoing::Outgoing(Loop& loop, OutgoingOptions options, Owner& owner)
    : loop_(loop), options_(std::make_shared<const OutgoingOptions>(std::move(options))), owner_(owner) {}

Outgoing::~Outgoing() {
  close();
}

void Outgoing::connect() {
  close();
  connection_ = std::make_shared<OutgoingConnection>(loop_, options_, owner_);
  connection_->start();
}

bool Outgoing::connected() const noexcept {
  return connection_ && connection_->open();
}

void Outgoing::send(std::string_view bytes) {
  if (connection_) connection_->send(bytes);
}

std::size_t Outgoing::unsent() const noexcept {
  return connection_ ? connection_->unsent() : 0;
}

void Outgoing::close() {
  if (const auto closed = std::exchange(connection_, nullptr)) closed->close();
}

}  // namespace weir::net
