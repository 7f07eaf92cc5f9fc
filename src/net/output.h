// What a session answers. It is sent when the session returns: everything that one read brought, with one write.
// A plain value: a test of a session makes one, and looks into it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::net {

class Output {
 public:
  static constexpr std::size_t default_bound = std::size_t{256} << 10;

  explicit Output(std::size_t bound = default_bound) : bound_(bound == 0 ? 1 : bound) {}

  // To append to. What is in it already is not the session's any more.
  [[nodiscard]] std::string& bytes() noexcept { return bytes_; }
  void append(std::string_view more) { bytes_.append(more); }

  // As much is unsent as may be: a session that can stop between two messages stops here, and is called again with
  // the rest when the peer has read.
  [[nodiscard]] bool full() const noexcept { return bytes_.size() + in_flight_ >= bound_; }

  // No more input is wanted; the connection is closed when all is sent.
  void close_after() noexcept { closing_ = true; }
  [[nodiscard]] bool closing() const noexcept { return closing_; }

  // An answer is held: no more input until Link::resume.
  void pause() noexcept { paused_ = true; }
  [[nodiscard]] bool paused() const noexcept { return paused_; }

 private:
  friend class Connection;

  std::string bytes_;
  std::size_t bound_;
  std::size_t in_flight_ = 0;  // begun to be sent, and not gone yet
  bool closing_ = false;
  bool paused_ = false;
};

}  // namespace weir::net
