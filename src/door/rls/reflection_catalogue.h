// What server reflection can tell: the files of a FileDescriptorSet, found by name and by the symbols in them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::door {

class ReflectionCatalogue {
 public:
  // Views into the set, which stays.
  explicit ReflectionCatalogue(std::string_view descriptor_set);

  // That of the protos which the door speaks.
  [[nodiscard]] static const ReflectionCatalogue& of_door();

  // A serialized FileDescriptorProto; empty if there is none.
  [[nodiscard]] std::string_view file(std::string_view name) const noexcept;
  // That declares a service, a method, a message or an enumeration, by its full name.
  [[nodiscard]] std::string_view file_declaring(std::string_view symbol) const noexcept;
  [[nodiscard]] bool declares_message(std::string_view name) const noexcept;

  // By their full names.
  [[nodiscard]] std::span<const std::string> services() const noexcept { return services_; }

 private:
  struct File {
    std::string_view name;
    std::string_view bytes;
    std::vector<std::string> symbols;
    std::vector<std::string> messages;
  };

  void add_file(std::string_view bytes);
  void add_message(File& file, const std::string& scope, std::string_view bytes);
  void add_service(File& file, const std::string& scope, std::string_view bytes);

  std::vector<File> files_;
  std::vector<std::string> services_;
};

}  // namespace weir::door
