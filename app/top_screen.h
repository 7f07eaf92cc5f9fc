// The screen of `weir top`: turns data and a terminal size into lines, and applies key presses. Uses no terminal and no
// clock.
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
  char letter = 0;  // for Key::letter: printable ASCII
};

// Parses key presses from the bytes of a terminal. An escape sequence may arrive in parts.
class KeyReader {
 public:
  [[nodiscard]] std::vector<Press> read(std::string_view bytes);

  // True if an escape sequence is incomplete. If no more bytes follow soon, it was the Esc key: call flush().
  [[nodiscard]] bool is_waiting() const noexcept { return !pending_.empty(); }
  [[nodiscard]] std::vector<Press> flush();

 private:
  std::string pending_;
};

enum class Order { denied, traffic, share, name };

class Screen {
 public:
  Screen(Charset charset, Order order, std::string filter)
      : charset_(charset), order_(order), filter_(std::move(filter)) {}

  // Shows the data, or keeps it for later while paused.
  void update(TopData data);

  // Returns false to quit.
  [[nodiscard]] bool press(const Press& press);

  // Returns lines that fit `size`.
  [[nodiscard]] std::vector<Line> lines(const Size& size) const;

  // Returns the whole content, of any length, without key hints.
  [[nodiscard]] std::vector<Line> whole(std::size_t columns) const;

  // Returns the limits to show, in order, as indexes of data.limits.
  [[nodiscard]] std::vector<std::size_t> chosen() const;

  // The limit whose details are shown; empty: the main view.
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
  bool is_filtering_ = false;  // the filter is being edited
  bool is_paused_ = false;
  bool shows_help_ = false;
  std::string selected_;  // the name of the selected limit, so that the selection survives a change of the order
  std::string looked_at_;
  TopData data_;
  TopData latest_;
};

}  // namespace weir::app
