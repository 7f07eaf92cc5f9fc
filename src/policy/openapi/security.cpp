#include "policy/openapi/security.h"

#include <string_view>

#include <fmt/core.h>

#include "policy/openapi/extension.h"
#include "policy/openapi/reference.h"
#include "policy/scalar.h"

namespace weir::policy::openapi {
namespace {

bool is_text(const yaml::Node& map, std::string_view field, std::string_view wanted) {
  const yaml::Node* node = map.find(field);
  return node != nullptr && node->is_scalar() && node->text == wanted;
}

bool is_read(const HeaderScheme& scheme, const Identity& identity) {
  const auto header = parse_header_name(scheme.header);
  return header && (*header == identity.api_key_header || *header == identity.user_header);
}

}  // namespace

std::vector<HeaderScheme> header_schemes(const yaml::Node& root) {
  std::vector<HeaderScheme> schemes;
  const yaml::Node* components = root.find("components");
  const yaml::Node* all = components != nullptr ? components->find("securitySchemes") : nullptr;
  if (all == nullptr) return schemes;
  Problems ignored("");
  References references(root, ignored);
  for (const yaml::Member& member : all->members) {
    const yaml::Node* scheme = references.follow(member.value);
    if (scheme == nullptr || !is_text(*scheme, "type", "apiKey") || !is_text(*scheme, "in", "header")) continue;
    const yaml::Node* name = scheme->find("name");
    if (name == nullptr || !name->is_scalar() || !parse_header_name(name->text)) continue;
    schemes.push_back({member.key, name->text});
  }
  return schemes;
}

void take_api_key(const std::vector<HeaderScheme>& schemes, Identity& identity) {
  if (schemes.size() != 1 || is_read(schemes.front(), identity)) return;
  if (auto header = parse_header_name(schemes.front().header)) identity.api_key_header = *std::move(header);
}

void warn_of_unread(const std::vector<HeaderScheme>& schemes, const Identity& identity, Problems& problems) {
  for (const HeaderScheme& scheme : schemes) {
    if (is_read(scheme, identity)) continue;
    problems.warning(scheme.name.at,
                     fmt::format("security scheme {} has its key in {}, which nothing here reads (api_key is {}): add "
                                 "'{}: {{ api_key: {{ header: {} }} }}' at the root, or count by header:{}",
                                 quoted(scheme.name.value), scheme.header, identity.api_key_header, identity_field,
                                 scheme.header, scheme.header));
  }
}

}  // namespace weir::policy::openapi
