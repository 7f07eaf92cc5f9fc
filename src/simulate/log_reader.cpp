#include "simulate/log_reader.h"

#include <utility>

namespace weir::simulate {

LogReader::LogReader(LogSource source, LogOptions options) noexcept
    : source_(std::move(source)), options_(std::move(options)) {}

Result<LogReader> LogReader::open(const std::string& path, LogOptions options) {
  auto source = LogSource::open(path);
  if (!source) return tl::unexpected(source.error());
  return LogReader(std::move(*source), std::move(options));
}

LogEntry* LogReader::next() {
  while (const auto line = source_.next()) {
    if (std::holds_alternative<std::monostate>(parser_)) choose_parser(*line);
    if (auto* const combined = std::get_if<CombinedLines>(&parser_)) {
      current_ = combined->parse(*line);
    } else if (auto* const json = std::get_if<JsonLines>(&parser_)) {
      current_ = json->parse(*line);
    }
    if (current_) {
      ++entries_;
      return &*current_;
    }
    faults_.add(current_.error(), source_.line_number(), *line);
  }
  return nullptr;
}

void LogReader::choose_parser(std::string_view first_line) {
  if (!options_.format) options_.format = detect_format(first_line);
  if (*options_.format == LogFormat::json) {
    parser_.emplace<JsonLines>(std::move(options_.fields));
  } else {
    parser_.emplace<CombinedLines>(options_.tail);
  }
}

}  // namespace weir::simulate
