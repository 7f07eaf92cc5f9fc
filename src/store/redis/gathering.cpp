#include "store/redis/gathering.h"

#include <algorithm>
#include <utility>

namespace weir::store::redis {
namespace {

constexpr std::size_t most_spare = 256;
constexpr std::size_t most_placed = 60'000;  // flights at once that a place can name

}  // namespace

void Gathering::add(SharedAsk& ask, Moment deadline, Slot slot) {
  ++asks_;
  const std::uint16_t place = place_of(slot);
  if (place != 0 && flights_[place - 1U]->add(ask, deadline)) return;
  Flight& fresh = open(slot);
  if (flights_.size() < most_placed) place_of(slot) = static_cast<std::uint16_t>(flights_.size());
  static_cast<void>(fresh.add(ask, deadline));  // an empty one takes any
}

void Gathering::add_alone(SharedAsk& ask, Moment deadline, Slot slot, bool asking) {
  ++asks_;
  Flight& fresh = open(slot);
  fresh.asking = asking;
  static_cast<void>(fresh.add(ask, deadline));
}

Moment Gathering::oldest() const noexcept {
  Moment oldest = Moment::max();
  for (const auto& flight : flights_) oldest = std::min(oldest, flight->oldest);
  return oldest;
}

void Gathering::drop_expired(Moment now, std::vector<SharedAsk*>& expired) {
  const std::size_t before = expired.size();
  for (const auto& flight : flights_) flight->drop_expired(now, expired);
  asks_ -= expired.size() - before;
}

void Gathering::take(std::vector<std::unique_ptr<Flight>>& flights) noexcept {
  flights_.swap(flights);
  for (const auto& flight : flights) places_[flight->slot] = 0;
  asks_ = 0;
}

void Gathering::put_down(std::unique_ptr<Flight> flight) noexcept {
  flight->clear(0);
  if (spare_.size() < most_spare) spare_.push_back(std::move(flight));
}

Flight& Gathering::open(Slot slot) {
  if (spare_.empty()) spare_.push_back(std::make_unique<Flight>());
  static_cast<void>(place_of(slot));
  flights_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  flights_.back()->clear(slot);
  return *flights_.back();
}

std::uint16_t& Gathering::place_of(Slot slot) {
  if (places_.size() <= slot) places_.resize(std::size_t{slot} + 1);
  return places_[slot];
}

}  // namespace weir::store::redis
