// Things that the sessions of one loop use in turn, each for as long as it waits. All on the loop's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace weir::door {

template <class Thing>
class Pool {
 public:
  static constexpr std::size_t most_idle = 64;

  Pool() { idle_.reserve(most_idle); }

  // One that was given back, as it was then; else a new one, of these arguments.
  template <class... Arguments>
  [[nodiscard]] std::unique_ptr<Thing> take(Arguments&&... arguments) {
    if (idle_.empty()) return std::make_unique<Thing>(std::forward<Arguments>(arguments)...);
    std::unique_ptr<Thing> thing = std::move(idle_.back());
    idle_.pop_back();
    return thing;
  }

  void give_back(std::unique_ptr<Thing> thing) noexcept {
    if (idle_.size() < most_idle) idle_.push_back(std::move(thing));
  }

 private:
  std::vector<std::unique_ptr<Thing>> idle_;
};

}  // namespace weir::door
