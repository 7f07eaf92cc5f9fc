#include "app/top_screen.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace weir::app {
namespace {

constexpr std::ptrdiff_t page = 10;
constexpr std::size_t max_filter_length = 64;

Order after(Order order) {
  switch (order) {
    case Order::denied:
      return Order::traffic;
    case Order::traffic:
      return Order::share;
    case Order::share:
      return Order::name;
    case Order::name:
      break;
  }
  return Order::denied;
}

bool is_before(const TopLimit& a, const TopLimit& b, Order order) {
  switch (order) {
    case Order::denied:
      return a.denied() > b.denied();
    case Order::traffic:
      return a.minute.decisions > b.minute.decisions;
    case Order::share:
      return a.share() > b.share();
    case Order::name:
      return a.name < b.name;
  }
  return false;
}

}  // namespace

void Screen::update(TopData data) {
  latest_ = std::move(data);
  if (!is_paused_) data_ = latest_;
}

std::vector<std::size_t> Screen::chosen() const {
  std::vector<std::size_t> found;
  const std::string wanted = base::lower(filter_);
  for (std::size_t i = 0; i < data_.limits.size(); ++i) {
    if (base::lower(data_.limits[i].name).find(wanted) != std::string::npos) found.push_back(i);
  }
  std::ranges::stable_sort(
      found, [&](std::size_t a, std::size_t b) { return is_before(data_.limits[a], data_.limits[b], order_); });
  return found;
}

std::size_t Screen::selected_at(const std::vector<std::size_t>& chosen) const {
  const auto found =
      std::ranges::find(chosen, selected_, [&](std::size_t i) -> const std::string& { return data_.limits[i].name; });
  return found == chosen.end() ? 0 : static_cast<std::size_t>(found - chosen.begin());
}

void Screen::move(std::ptrdiff_t by) {
  const auto limits = chosen();
  if (limits.empty()) return;
  const auto last = static_cast<std::ptrdiff_t>(limits.size()) - 1;
  const auto now = static_cast<std::ptrdiff_t>(selected_at(limits));
  const std::ptrdiff_t to = std::clamp<std::ptrdiff_t>(now + std::clamp(by, -last, last), 0, last);
  selected_ = data_.limits[limits[static_cast<std::size_t>(to)]].name;
}

void Screen::go_back() {
  if (shows_help_) {
    shows_help_ = false;
  } else if (!looked_at_.empty()) {
    looked_at_.clear();
  } else {
    filter_.clear();
  }
}

void Screen::press_in_filter(const Press& press) {
  if (press.key == Key::escape) filter_.clear();
  if (press.key == Key::escape || press.key == Key::enter) is_filtering_ = false;
  if (press.key == Key::backspace && !filter_.empty()) filter_.pop_back();
  if (press.key == Key::letter && filter_.size() < max_filter_length) filter_ += press.letter;
}

bool Screen::press_letter(char letter) {
  switch (letter) {
    case 'q':
      return false;
    case '?':
    case 'h':
      shows_help_ = !shows_help_;
      break;
    case 's':
      order_ = after(order_);
      break;
    case 'd':
      order_ = Order::denied;
      break;
    case 't':
      order_ = Order::traffic;
      break;
    case 'r':
      order_ = Order::share;
      break;
    case 'n':
      order_ = Order::name;
      break;
    case 'k':
      move(-1);
      break;
    case 'j':
      move(1);
      break;
    case '/':
      is_filtering_ = true;
      shows_help_ = false;
      looked_at_.clear();
      break;
    case 'p':
    case ' ':
      is_paused_ = !is_paused_;
      data_ = latest_;
      break;
    default:
      break;
  }
  return true;
}

bool Screen::press(const Press& press) {
  if (is_filtering_) {
    press_in_filter(press);
    return true;
  }
  constexpr std::ptrdiff_t all = 1'000'000;
  switch (press.key) {
    case Key::up:
      move(-1);
      break;
    case Key::down:
      move(1);
      break;
    case Key::page_up:
      move(-page);
      break;
    case Key::page_down:
      move(page);
      break;
    case Key::home:
      move(-all);
      break;
    case Key::end:
      move(all);
      break;
    case Key::enter:
      if (const auto limits = chosen(); !limits.empty() && !shows_help_) {
        selected_ = data_.limits[limits[selected_at(limits)]].name;
        looked_at_ = selected_;
      }
      break;
    case Key::escape:
    case Key::backspace:
      go_back();
      break;
    case Key::letter:
      return press_letter(press.letter);
  }
  return true;
}

}  // namespace weir::app
