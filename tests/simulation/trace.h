// The events of a run, for debugging.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/simulation/event_queue.h"

namespace weir::simulation {

struct TraceLine {
  Micros at = 0;
  const char* what = "";
  int node = -1;  // -1: none
  int key = -1;   // -1: all
  std::string more{};

  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out << at << " us: ";
    if (node >= 0) out << "node " << node << ' ';
    out << what;
    if (key >= 0) out << " of key " << key;
    if (!more.empty()) out << ": " << more;
    return out.str();
  }
};

class Trace {
 public:
  // Details cost time: only a run that prints has them.
  explicit Trace(bool prints) noexcept : prints_(prints) {}

  [[nodiscard]] bool prints() const noexcept { return prints_; }

  void add(TraceLine line) {
    if (prints_) std::cout << line.text() << '\n';
    lines_.push_back(std::move(line));
  }

  // The last events that concern the key, up to then.
  [[nodiscard]] std::string last(int key, Micros until) const {
    std::vector<const TraceLine*> found;
    for (const TraceLine& line : lines_) {
      if (line.at <= until && (line.key == key || line.key < 0 || key < 0)) found.push_back(&line);
    }
    constexpr std::size_t most = 30;
    std::string text;
    for (std::size_t i = found.size() - std::min(most, found.size()); i < found.size(); ++i) {
      text += "  " + found[i]->text() + "\n";
    }
    return text;
  }

 private:
  const bool prints_;
  std::vector<TraceLine> lines_;
};

}  // namespace weir::simulation
