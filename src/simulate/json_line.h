// Logs of one JSON object per line, read through a FieldMap.
//
// simdjson rather than Boost.JSON: it reads only the fields that the map knows, without building a tree, and
// gives numbers as they are written, so that times and user numbers lose no digit. It reports errors by code;
// no exception leaves this class.
//
// Strings and numbers are values; null, true, false, "" and "-" are absent; of an array the first element counts
// (Caddy logs headers so). An address loses its port. A field given twice counts once, as it first stands.
#pragma once

#include <memory>
#include <string_view>

#include "simulate/field_map.h"
#include "simulate/line_fault.h"

namespace weir::simulate {

// One log; one thread. Allocates only to grow.
class JsonLines {
 public:
  explicit JsonLines(FieldMap fields);
  ~JsonLines();
  JsonLines(JsonLines&&) noexcept;
  JsonLines& operator=(JsonLines&&) noexcept;

  // The entry holds until the next call. It has a time and a target; everything else may be absent.
  [[nodiscard]] Parsed parse(std::string_view line);

 private:
  class Document;
  std::unique_ptr<Document> document_;
};

}  // namespace weir::simulate
