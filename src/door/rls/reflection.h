// grpc.reflection.v1 and v1alpha, which are the same but for their name: tools ask what a server speaks.
#pragma once

#include <string>
#include <string_view>

#include "door/rls/reflection_catalogue.h"

namespace weir::door {

// Appends the ServerReflectionResponse to a ServerReflectionRequest. False if it is none.
[[nodiscard]] bool reflect(const ReflectionCatalogue& catalogue, std::string_view request, std::string& out);

}  // namespace weir::door
