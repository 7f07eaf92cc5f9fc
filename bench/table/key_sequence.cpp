#include "table/key_sequence.h"

#include <fstream>

namespace bench::table {

weir::Result<std::vector<std::uint32_t>> read_key_sequence(const std::filesystem::path& path) {
  std::error_code failed;
  const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
  std::ifstream file(path, std::ios::binary);
  if (failed || !file) return weir::failure(path.string(), "cannot be read: give a file of key numbers");
  std::vector<std::uint32_t> numbers(bytes / sizeof(std::uint32_t));
  file.read(reinterpret_cast<char*>(numbers.data()), static_cast<std::streamsize>(numbers.size() * sizeof numbers[0]));
  if (!file) return weir::failure(path.string(), "ended early: write it again");
  return numbers;
}

}  // namespace bench::table
