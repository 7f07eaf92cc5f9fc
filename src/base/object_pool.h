// Objects that are used over and over, with the memory they hold, instead of being made and destroyed for each use.
// Neither class is thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace weir::base {

// Owns all of its objects, also those in use, and destroys them with itself. For objects that others refer to while
// they are in use, such as callbacks of what is in flight.
template <class T>
class ObjectPool {
 public:
  ObjectPool() = default;
  ObjectPool(const ObjectPool&) = delete;
  ObjectPool& operator=(const ObjectPool&) = delete;
  ~ObjectPool() = default;

  // An idle object, in the state in which it was released; if there is none, a new one made of `arguments`.
  template <class... Arguments>
  [[nodiscard]] T& acquire(Arguments&&... arguments) {
    if (idle_.empty()) {
      if (idle_.capacity() == objects_.size()) idle_.reserve(2 * objects_.size() + 1);  // so that release() cannot fail
      return *objects_.emplace_back(std::make_unique<T>(std::forward<Arguments>(arguments)...));
    }
    T& object = *idle_.back();
    idle_.pop_back();
    return object;
  }

  void release(T& object) noexcept { idle_.push_back(&object); }

  [[nodiscard]] bool has_idle() const noexcept { return !idle_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return objects_.size(); }  // with those in use

 private:
  std::vector<std::unique_ptr<T>> objects_;
  std::vector<T*> idle_;  // the last released is acquired first: its memory is the most likely to be cached
};

// Keeps at most `max_idle` objects between uses. In use, an object belongs to its user, who may also destroy it.
template <class T, std::size_t max_idle>
class IdleObjects {
 public:
  IdleObjects() { idle_.reserve(max_idle); }

  // An idle object, in the state in which it was put back; if there is none, a new one made of `arguments`.
  template <class... Arguments>
  [[nodiscard]] std::unique_ptr<T> take(Arguments&&... arguments) {
    if (idle_.empty()) return std::make_unique<T>(std::forward<Arguments>(arguments)...);
    std::unique_ptr<T> object = std::move(idle_.back());
    idle_.pop_back();
    return object;
  }

  // Destroys `object` if enough others are idle.
  void put_back(std::unique_ptr<T> object) noexcept {
    if (idle_.size() < max_idle) idle_.push_back(std::move(object));
  }

  [[nodiscard]] std::size_t size() const noexcept { return idle_.size(); }

 private:
  std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace weir::base
