#include "policy/text_file.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "policy/yaml/document.h"

namespace weir::policy {

Result<std::string> read_text_file(const std::filesystem::path& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  const auto unreadable = [&] {
    return failure(path.string(), "cannot be read: " + std::generic_category().message(errno));
  };
  if (file == nullptr) return unreadable();
  std::string text(yaml::most_bytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable();
  return text;
}

}  // namespace weir::policy
