#include "wire/fields/structured_list.h"

#include "wire/fields/text_cursor.h"

namespace weir::wire {
namespace {

constexpr bool begins_key(char c) noexcept {
  return is_lower(c) || c == '*';
}

constexpr bool is_key_char(char c) noexcept {
  return begins_key(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}

}  // namespace

ListReader::ListReader(std::string_view field) noexcept : rest_(field) {
  if (field.size() > max_length) refuse();
  take_while(rest_, is_space);
}

std::optional<BareItem> ListReader::next_member() noexcept {
  while (next_parameter()) {
    // The caller did not ask for these, yet they must be well-formed.
  }
  if (!step_to_member()) return {};
  auto item = take_bare_item(rest_);
  if (!item || ++members_ > max_members) {
    refuse();
    return {};
  }
  return item;
}

std::optional<ListReader::Parameter> ListReader::next_parameter() noexcept {
  if (members_ == 0 || !take(rest_, ';')) return {};
  take_while(rest_, is_space);
  Parameter parameter;
  if (!rest_.empty() && begins_key(rest_.front())) parameter.key = take_while(rest_, is_key_char);
  if (parameter.key.empty()) {
    refuse();
    return {};
  }
  if (take(rest_, '=')) {
    const auto value = take_bare_item(rest_);
    if (!value) {
      refuse();
      return {};
    }
    parameter.value = *value;
  }
  return parameter;
}

// Whether another member must follow: past the comma, if it is not the first.
bool ListReader::step_to_member() noexcept {
  if (members_ == 0) return !rest_.empty();
  take_while(rest_, is_space_or_tab);
  if (rest_.empty()) return false;
  if (!take(rest_, ',')) refuse();
  take_while(rest_, is_space_or_tab);
  return well_formed_;
}

void ListReader::refuse() noexcept {
  well_formed_ = false;
  rest_ = {};
}

}  // namespace weir::wire
