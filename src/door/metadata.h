// The metadata of descriptors in an answer, as envoyproxy/ratelimit has it: under `metadata`, that of all limited
// descriptors that passed; where two name the same the first counts, and maps are merged.
#pragma once

#include <string>

#include "door/descriptor_ruling.h"

namespace weir::door {

[[nodiscard]] bool has_metadata(const DescriptorRuling& ruling) noexcept;

// Appends the fields of a google.protobuf.Struct.
void append_metadata_struct(std::string& out, const DescriptorRuling& ruling);

// The same as a JSON object.
void append_metadata_json(std::string& out, const DescriptorRuling& ruling);

}  // namespace weir::door
