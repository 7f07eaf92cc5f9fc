// A file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace weir::net {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Descriptor() { reset(-1); }

  [[nodiscard]] bool open() const noexcept { return number_ >= 0; }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  void reset(int number) noexcept {
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }

  int number_ = -1;
};

}  // namespace weir::net
