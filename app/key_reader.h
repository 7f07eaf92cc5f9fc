// The keys in the bytes that a terminal sends. An escape sequence may come in parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/top_screen.h"

namespace weir::app {

class KeyReader {
 public:
  [[nodiscard]] std::vector<Press> read(std::string_view bytes);

  // Whether a sequence has begun: if nothing more comes within a moment, it was the key Esc.
  [[nodiscard]] bool is_waiting() const noexcept { return !begun_.empty(); }
  [[nodiscard]] std::vector<Press> give_up_waiting();

 private:
  std::string begun_;
};

}  // namespace weir::app
