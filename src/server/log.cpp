#include "server/log.h"

#include <string>

namespace weir::server {

void Log::say(LogLevel level, observe::Level as, std::string_view message) {
  if (level > level_) return;
  std::string line;
  observe::append_message(line, clock_.now(), as, message);
  writer_.write(line);
}

}  // namespace weir::server
