// Takes some of many, evenly and without a rhythm that traffic could fall in with. For one thread.
#pragma once

#include <cstdint>

namespace weir::observe {

// `keep` out of every `of`, on average; all if they are equal.
struct Sampling {
  std::uint32_t keep = 1;
  std::uint32_t of = 1;
};

class Sampler {
 public:
  // The same seed takes the same.
  Sampler(Sampling sampling, std::uint64_t seed) noexcept : sampling_(sampling), state_(seed) {}

  [[nodiscard]] bool takes() noexcept {
    if (sampling_.keep >= sampling_.of) return true;
    return scatter() % sampling_.of < sampling_.keep;
  }

 private:
  // A counter, and a bijection of it that leaves nothing of its order.
  [[nodiscard]] std::uint64_t scatter() noexcept {
    std::uint64_t mixed = state_ += 0x9e37'79b9'7f4a'7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58'476d'1ce4'e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d0'49bb'1331'11eb;
    return mixed ^ mixed >> 31;
  }

  Sampling sampling_;
  std::uint64_t state_;
};

}  // namespace weir::observe
