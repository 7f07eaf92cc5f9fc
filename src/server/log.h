// Messages of the server, in the same log as denials.
#pragma once

#include <string>
#include <string_view>

#include "observe/log_line.h"
#include "observe/log_writer.h"
#include "server/config.h"
#include "weir/clock.h"

namespace weir::server {

// Thread-safe.
class Log {
 public:
  Log(observe::LogWriter& writer, const Clock& clock, LogLevel level) : writer_(writer), clock_(clock), level_(level) {}

  void info(std::string_view message) { write(LogLevel::info, observe::Level::info, message); }
  void warning(std::string_view message) { write(LogLevel::warning, observe::Level::warning, message); }
  void error(std::string_view message) { write(LogLevel::error, observe::Level::error, message); }

  [[nodiscard]] observe::LogWriter& writer() noexcept { return writer_; }

 private:
  void write(LogLevel level, observe::Level as, std::string_view message) {
    if (level > level_) return;
    std::string line;
    observe::append_message(line, clock_.now(), as, message);
    writer_.write(line);
  }

  observe::LogWriter& writer_;
  const Clock& clock_;
  LogLevel level_;
};

}  // namespace weir::server
