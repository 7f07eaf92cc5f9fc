// The entries of a log in any of the formats, in the log's order; lines that are none are tallied.
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
  std::optional<LogFormat> format{};  // absent: by the first line
  FieldMap fields{};                  // of JSON lines
  Tail tail = Tail::skipped;          // of combined lines
};

// One thread.
class LogReader {
 public:
  [[nodiscard]] static Result<LogReader> open(const std::string& path, LogOptions options = {});

  // The next entry, which holds until the next call, and may be changed; null at the end.
  [[nodiscard]] LogEntry* next();

  // Absent until the first line, unless it was asked for.
  [[nodiscard]] const std::optional<LogFormat>& format() const noexcept { return options_.format; }
  [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }
  [[nodiscard]] const FaultTally& faults() const noexcept { return faults_; }

  // Overlong lines, progress, and whether the log ended early.
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

// Feeds every entry of the log, in the order of time, to replay(const LogEntry&). Several logs may go through one
// order, one after the other; order.finish() and a last drain() end it.
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
