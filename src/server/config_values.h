// Values of weir.yaml that are read alike in every section: each leaves its value alone if it is absent or wrong.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "policy/map_reader.h"
#include "server/config_scalar.h"

namespace weir::server {

void read_path(policy::MapReader& map, std::string_view field, const std::filesystem::path& folder,
               std::optional<std::filesystem::path>& value);
void read_size(policy::MapReader& map, std::string_view field, SizeBounds bounds, std::size_t& value);
void read_time(policy::MapReader& map, std::string_view field, TimeBounds bounds, Duration& value);
void read_truth(policy::MapReader& map, std::string_view field, bool& value);

// Calls take(node, text) for a single value, or for each in a list of them.
using TakeValue = std::function<void(const policy::yaml::Node& node, std::string_view text)>;
void read_one_or_more(const policy::yaml::Node& node, std::string_view field, policy::Problems& problems,
                      const TakeValue& take);

// A map, or the word `off`. The node of the map; none if the field is absent, off or wrong.
struct Switch {
  const policy::yaml::Node* map = nullptr;
  bool off = false;
};
[[nodiscard]] Switch read_switch(policy::MapReader& map, std::string_view field);

}  // namespace weir::server
