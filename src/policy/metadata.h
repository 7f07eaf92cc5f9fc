// What a descriptor's `metadata` holds: any tree of values that google.protobuf.Struct can carry.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::policy {

struct MetadataValue {
  enum class Kind : std::uint8_t { null, truth, number, text, list, map };

  Kind kind = Kind::null;
  bool truth = false;
  double number = 0;  // finite
  std::string text;
  std::vector<MetadataValue> items;  // of a list or a map
  std::vector<std::string> names;    // of a map: one for each of items, each once

  friend bool operator==(const MetadataValue&, const MetadataValue&) = default;
};

}  // namespace weir::policy
