// A terminal that is drawn on. While it is taken over, it shows its other screen, without a cursor, and gives keys as
// they are pressed; afterwards it is as it was.
#pragma once

#include <termios.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/top_screen.h"
#include "app/top_text.h"
#include "weir/result.h"

namespace weir::app {

// With the escape sequences of its inks; without colours, bold and the like stay.
[[nodiscard]] std::string painted(const Line& line, bool has_colours);

// What the environment says of the terminal: UTF-8, or ASCII to be safe.
[[nodiscard]] Charset charset_of_terminal();

// Of the terminal on the standard output; 80 columns and 24 rows where there is none.
[[nodiscard]] Size size_of_terminal();

class LiveTerminal {
 public:
  // Whether there is one that can be drawn on, for input and output.
  [[nodiscard]] static bool is_there();

  LiveTerminal() = default;
  LiveTerminal(const LiveTerminal&) = delete;
  LiveTerminal& operator=(const LiveTerminal&) = delete;
  LiveTerminal(LiveTerminal&&) = delete;
  LiveTerminal& operator=(LiveTerminal&&) = delete;
  ~LiveTerminal() { leave(); }

  [[nodiscard]] Result<void> enter();
  void leave() noexcept;

  [[nodiscard]] Result<void> draw(const std::vector<Line>& lines, bool has_colours);

  // Waits for the first byte. Empty: the terminal is gone.
  [[nodiscard]] std::string read();

 private:
  bool is_taken_ = false;
  termios before_{};
};

}  // namespace weir::app
