// Pools of objects that are reused together with their memory. Not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace weir::base {

// Owns all of its objects, including those in use, and destroys them with itself. For objects that others refer to
// while they are in use, such as callbacks of requests in flight.
template <class T>
class ObjectPool {
 public:
  ObjectPool() = default;
  ObjectPool(const ObjectPool&) = delete;
  ObjectPool& operator=(const ObjectPool&) = delete;
  ~ObjectPool() = default;

  // Returns an idle object, in the state in which it was released, or a new one constructed from `arguments`.
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
  [[nodiscard]] std::size_t size() const noexcept { return objects_.size(); }  // including those in use

 private:
  std::vector<std::unique_ptr<T>> objects_;
  std::vector<T*> idle_;  // last released, first acquired: its memory is most likely cached
};

// Keeps at most `max_idle` objects between uses. An object in use belongs to its user, who may destroy it.
template <class T, std::size_t max_idle>
class IdleObjects {
 public:
  IdleObjects() { idle_.reserve(max_idle); }

  // Returns an idle object, in the state in which it was put back, or a new one constructed from `arguments`.
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
