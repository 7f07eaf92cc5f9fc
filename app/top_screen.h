// What `weir top` shows, and what keys do to it: the data and the size of a terminal make lines. It knows no terminal,
// and reads no clock.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/top_data.h"
#include "app/top_text.h"

namespace weir::app {

struct Size {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

enum class Key { up, down, page_up, page_down, home, end, enter, escape, backspace, letter };

struct Press {
  Key key = Key::letter;
  char letter = 0;  // of Key::letter: a printable one of ASCII
};

// The keys in the bytes that a terminal sends. An escape sequence may come in parts.
class KeyReader {
 public:
  [[nodiscard]] std::vector<Press> read(std::string_view bytes);

  // Whether a sequence has begun: if nothing more comes within a moment, it was the key Esc.
  [[nodiscard]] bool is_waiting() const noexcept { return !begun_.empty(); }
  [[nodiscard]] std::vector<Press> give_up_waiting();

 private:
  std::string begun_;
};

enum class Order { denied, traffic, share, name };

class Screen {
 public:
  Screen(Charset charset, Order order, std::string filter)
      : charset_(charset), order_(order), filter_(std::move(filter)) {}

  // Shown from now on; while it is paused, from when it goes on.
  void update(TopData data);

  // False: quit.
  [[nodiscard]] bool press(const Press& press);

  // Never more than `size` has, and none is wider.
  [[nodiscard]] std::vector<Line> lines(const Size& size) const;

  // All of it, however long that is, without what is there for keys.
  [[nodiscard]] std::vector<Line> whole(std::size_t columns) const;

  // The limits that are shown, in order: indexes of data.limits.
  [[nodiscard]] std::vector<std::size_t> chosen() const;

  // The limit that is looked at; empty: all of them are.
  [[nodiscard]] const std::string& looked_at() const noexcept { return looked_at_; }

 private:
  void move(std::ptrdiff_t by);
  [[nodiscard]] bool press_letter(char letter);
  void press_in_filter(const Press& press);
  void go_back();

  [[nodiscard]] std::string show(std::string_view text) const { return shown(text, charset_); }
  [[nodiscard]] std::string spark(const std::vector<TrafficCounts>& series, std::uint64_t TrafficCounts::* count,
                                  std::size_t slots, std::size_t width) const;
  [[nodiscard]] std::size_t selected_at(const std::vector<std::size_t>& chosen) const;

  [[nodiscard]] std::vector<Line> head(std::size_t columns) const;
  [[nodiscard]] Line title() const;
  [[nodiscard]] Line store_line() const;
  [[nodiscard]] Line foot() const;
  [[nodiscard]] std::vector<Line> body(const Size& size) const;
  [[nodiscard]] std::vector<Line> limits_table(const Size& size, bool marks_selected) const;
  [[nodiscard]] Line limit_row(const TopLimit& limit, std::size_t columns, bool is_selected) const;
  [[nodiscard]] std::vector<Line> denied_table(const std::vector<DeniedConsumer>& denied, std::size_t rows) const;
  [[nodiscard]] std::vector<Line> events_table(std::size_t rows) const;
  [[nodiscard]] std::vector<Line> detail(const Size& size) const;
  [[nodiscard]] std::vector<Line> limit_lines(const TopLimit& limit, std::size_t columns) const;
  [[nodiscard]] std::vector<Line> help() const;

  Charset charset_;
  Order order_;
  std::string filter_;
  bool is_filtering_ = false;  // the filter is being typed
  bool is_paused_ = false;
  bool shows_help_ = false;
  std::string selected_;  // by name, so that it stays what it is when the order changes
  std::string looked_at_;
  TopData data_;
  TopData latest_;
};

}  // namespace weir::app
