// The protos that the door speaks, as protoc describes them: a serialized FileDescriptorSet. Written at build.
#pragma once

#include <string_view>

namespace weir::door {

[[nodiscard]] std::string_view descriptor_set() noexcept;

}  // namespace weir::door
