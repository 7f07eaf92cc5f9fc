#include "net/link.h"

#include <utility>

#include "net/connection.h"
#include "net/loop.h"

namespace weir::net {

Link::Link(std::weak_ptr<Connection> connection, Loop& loop) noexcept
    : connection_(std::move(connection)), loop_(&loop) {}

bool Link::alive() const {
  const auto connection = connection_.lock();
  return connection && connection->has_session();
}

void Link::send(std::string_view bytes) const {
  if (const auto connection = connection_.lock()) connection->send(bytes);
}

void Link::resume() const {
  if (const auto connection = connection_.lock()) connection->resume();
}

void Link::resume_at(std::chrono::steady_clock::time_point when) const {
  if (const auto connection = connection_.lock()) connection->resume_at(when);
}

void Link::close() const {
  if (const auto connection = connection_.lock()) connection->close();
}

void Link::post(std::function<void()> work) const {
  if (loop_ == nullptr) return;
  loop_->post([link = *this, work = std::move(work)] {
    // Held while it runs: the session must not end under its own feet.
    const auto connection = link.connection_.lock();
    if (connection && connection->has_session()) work();
  });
}

}  // namespace weir::net
