#include "server/redis_inquiry.h"

#include <utility>

#include "policy/words.h"
#include "wire/resp/command_writer.h"

namespace weir::server {

using std::chrono::steady_clock;
using std::chrono::system_clock;

RedisInquiry::RedisInquiry(net::Loop& loop, store::redis::ServerConnection::Options options)
    : loop_(loop), where_(options.endpoint.text()), patience_(options.patience) {
  Owner& owner = *this;
  loop_.run([&] { connection_ = std::make_unique<store::redis::ServerConnection>(loop_, std::move(options), owner); });
}

RedisInquiry::~RedisInquiry() {
  loop_.run([this] { connection_.reset(); });
}

Result<void> RedisInquiry::connect() {
  return wait([this] { connection_->connect(); });
}

Result<void> RedisInquiry::ask(std::initializer_list<std::string_view> command, const Take& take) {
  std::string bytes;
  wire::resp::append_command(bytes, command);
  return wait([&] {
    take_ = &take;
    sent_ = steady_clock::now();
    connection_->send(bytes);
  });
}

// The connection itself is patient for as long, and has more to say about it: it gets a little more time.
Result<void> RedisInquiry::wait(const std::function<void()>& begin) {
  {
    const std::lock_guard guard(mutex_);
    if (error_) return tl::unexpected(*error_);
    done_ = false;
  }
  loop_.run(begin);
  std::unique_lock lock(mutex_);
  const auto enough = patience_ + std::chrono::milliseconds(200);
  if (!changed_.wait_for(lock, enough, [this] { return done_; })) {
    lock.unlock();
    loop_.run([this] { connection_->close(); });  // nothing is taken after this
    lock.lock();
    if (!done_) error_ = Error{where_, "does not answer within " + policy::duration_text(patience_)};
  }
  if (error_) return tl::unexpected(*error_);
  return {};
}

void RedisInquiry::on_ready() {
  finish({});
}

void RedisInquiry::on_reply(const wire::resp::Reply& reply) {
  if (take_ == nullptr) return;
  round_trip_ = std::chrono::duration_cast<Duration>(steady_clock::now() - sent_);
  asked_at_ = std::chrono::time_point_cast<Duration>(system_clock::now()) - round_trip_ / 2;
  (*std::exchange(take_, nullptr))(reply);
  finish({});
}

void RedisInquiry::on_lost(const Error& error) {
  finish(error);
}

void RedisInquiry::finish(std::optional<Error> error) {
  const std::lock_guard guard(mutex_);
  if (error) error_ = std::move(error);
  done_ = true;
  changed_.notify_one();
}

}  // namespace weir::server
