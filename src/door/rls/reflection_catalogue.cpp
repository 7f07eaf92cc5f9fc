#include "door/rls/reflection_catalogue.h"

#include <algorithm>

#include "door/rls/descriptor_set.h"
#include "wire/protobuf/reader.h"

namespace weir::door {
namespace {

using wire::protobuf::Reader;
using wire::protobuf::WireType;

// Calls visit(bytes) for each field of that number that has bytes.
template <class Visit>
void for_each(std::string_view message, std::uint32_t number, const Visit& visit) {
  Reader fields(message);
  while (fields.next()) {
    if (fields.is(number, WireType::bytes)) visit(fields.bytes());
  }
}

// Field 1 of everything that has a name.
std::string_view name_of(std::string_view message) {
  std::string_view name;
  for_each(message, 1, [&](std::string_view found) { name = found; });
  return name;
}

std::string within(const std::string& scope, std::string_view name) {
  std::string full = scope;
  if (!full.empty()) full += '.';
  full += name;
  return full;
}

}  // namespace

ReflectionCatalogue::ReflectionCatalogue(std::string_view descriptor_set) {
  for_each(descriptor_set, 1, [&](std::string_view file) { add_file(file); });
  std::ranges::sort(services_);
}

const ReflectionCatalogue& ReflectionCatalogue::of_door() {
  static const ReflectionCatalogue catalogue(descriptor_set());
  return catalogue;
}

std::string_view ReflectionCatalogue::file(std::string_view name) const noexcept {
  const auto found = std::ranges::find(files_, name, &File::name);
  return found == files_.end() ? std::string_view() : found->bytes;
}

std::string_view ReflectionCatalogue::file_declaring(std::string_view symbol) const noexcept {
  const auto found = std::ranges::find_if(
      files_, [&](const File& file) { return std::ranges::find(file.symbols, symbol) != file.symbols.end(); });
  return found == files_.end() ? std::string_view() : found->bytes;
}

bool ReflectionCatalogue::declares_message(std::string_view name) const noexcept {
  return std::ranges::any_of(
      files_, [&](const File& file) { return std::ranges::find(file.messages, name) != file.messages.end(); });
}

void ReflectionCatalogue::add_file(std::string_view bytes) {
  File& file = files_.emplace_back();
  file.name = name_of(bytes);
  file.bytes = bytes;
  std::string package;
  for_each(bytes, 2, [&](std::string_view name) { package = name; });
  for_each(bytes, 4, [&](std::string_view message) { add_message(file, package, message); });
  for_each(bytes, 5, [&](std::string_view set) { file.symbols.push_back(within(package, name_of(set))); });
  for_each(bytes, 6, [&](std::string_view service) { add_service(file, package, service); });
}

void ReflectionCatalogue::add_message(File& file, const std::string& scope, std::string_view bytes) {
  const std::string name = within(scope, name_of(bytes));
  file.symbols.push_back(name);
  file.messages.push_back(name);
  for_each(bytes, 3, [&](std::string_view nested) { add_message(file, name, nested); });
  for_each(bytes, 4, [&](std::string_view set) { file.symbols.push_back(within(name, name_of(set))); });
}

void ReflectionCatalogue::add_service(File& file, const std::string& scope, std::string_view bytes) {
  const std::string name = within(scope, name_of(bytes));
  file.symbols.push_back(name);
  services_.push_back(name);
  for_each(bytes, 2, [&](std::string_view method) { file.symbols.push_back(within(name, name_of(method))); });
}

}  // namespace weir::door
