// A full-screen terminal. Between enter() and leave() it shows the alternate screen without a cursor and delivers
// single key presses; leave() restores the original screen.
#pragma once

#include <termios.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/top_screen.h"
#include "app/top_text.h"
#include "weir/result.h"

namespace weir::app {

// Returns the line with escape sequences. Without colours, only bold, faint and reverse are used.
[[nodiscard]] std::string painted(const Line& line, bool has_colours);

// Returns Unicode if the locale is UTF-8, otherwise ASCII.
[[nodiscard]] Charset charset_of_terminal();

// Returns the size of the terminal on the standard output, or 80 x 24 if it is unknown.
[[nodiscard]] Size size_of_terminal();

class LiveTerminal {
 public:
  // True if the standard input and output are a terminal that can be drawn on.
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

  // Waits for input. Returns an empty text if the terminal was closed.
  [[nodiscard]] std::string read();

 private:
  bool is_taken_ = false;
  termios before_{};
};

}  // namespace weir::app
