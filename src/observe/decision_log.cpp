#include "observe/decision_log.h"

namespace weir::observe {

bool DecisionLog::has_room(Instant now) {
  tick(now);
  return gate_.pass(now);
}

void DecisionLog::write(const Denial& denial, std::string& line) {
  line.clear();
  append_denial(line, denial);
  writer_.write(line);
}

void DecisionLog::tick(Instant now) {
  const std::uint64_t suppressed = gate_.take_suppressed(now);
  if (suppressed == 0) return;
  std::string line;
  append_suppressed(line, now, suppressed);
  writer_.write(line);
}

}  // namespace weir::observe
