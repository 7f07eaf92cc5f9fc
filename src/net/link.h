// A session's way back to its connection, for answers that come later. It may outlive the connection: then nothing
// happens. Copies are cheap. All but post() and loop() only from the thread of the loop.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

namespace weir::net {

class Connection;
class Loop;

class Link {
 public:
  Link() = default;  // leads nowhere: for tests of a session
  Link(std::weak_ptr<Connection> connection, Loop& loop) noexcept;

  [[nodiscard]] bool alive() const;

  // Sends, now unless the session is being called: then with its answers.
  void send(std::string_view bytes) const;
  // Ends Output::pause: Session::on_resume, then input goes on.
  void resume() const;
  // The same at a time of its own, to the precision of the system's timers. The latest call counts.
  void resume_at(std::chrono::steady_clock::time_point when) const;
  // At once; what is unsent is lost. Output::close_after is the orderly way.
  void close() const;

  // From any thread: runs `work` on the loop's thread, if the session is there by then.
  void post(std::function<void()> work) const;

  // Null if it leads nowhere.
  [[nodiscard]] Loop* loop() const noexcept { return loop_; }

 private:
  std::weak_ptr<Connection> connection_;
  Loop* loop_ = nullptr;
};

}  // namespace weir::net
