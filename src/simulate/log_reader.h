// Reads the entries of a log in any format, in the order of the log, and counts lines that are not entries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "simulate/combined_line.h"
#include "simulate/json_line.h"
#include "simulate/line_order.h"
#include "simulate/log_entry.h"
#include "simulate/log_source.h"
#include "weir/result.h"

namespace weir::simulate {

struct LogOptions {
  std::optional<LogFormat> format{};  // absent: detected from the first line
  FieldMap fields{};                  // the fields of JSON lines
  Tail tail = Tail::skipped;          // how the end of combined lines is used
};

// Not thread-safe.
class LogReader {
 public:
  [[nodiscard]] static Result<LogReader> open(const std::string& path, LogOptions options = {});

  // Returns the next entry, valid until the next call; the caller may modify it. Returns null at the end.
  [[nodiscard]] LogEntry* next();

  // Returns the format; absent until the first line, unless set in the options.
  [[nodiscard]] const std::optional<LogFormat>& format() const noexcept { return options_.format; }
  [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }
  [[nodiscard]] const FaultTally& faults() const noexcept { return faults_; }

  [[nodiscard]] const LogSource& source() const noexcept { return source_; }

 private:
  LogReader(LogSource source, LogOptions options) noexcept;

  void choose_parser(std::string_view first_line);

  LogSource source_;
  LogOptions options_;
  std::variant<std::monostate, CombinedLines, JsonLines> parser_;
  Parsed current_;
  FaultTally faults_;
  std::uint64_t entries_ = 0;
};

// Passes the entries of the log, ordered by time, to replay(const LogEntry&). Several logs may share one LineOrder;
// after the last one, call order.finish() and drain() once more.
template <class Replay>
void drain(LineOrder& order, Replay&& replay) {
  while (const LogEntry* entry = order.pop()) replay(*entry);
}

template <class Replay>
void replay_in_order(LogReader& reader, LineOrder& order, Replay&& replay) {
  while (const LogEntry* entry = reader.next()) {
    order.push(*entry);
    drain(order, replay);
  }
}

}  // namespace weir::simulate
