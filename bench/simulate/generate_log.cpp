// generate_log LINES: writes an access log of LINES lines to standard output.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "simulate/access_log.h"

int main(int argc, char** argv) {
  const std::uint64_t lines = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (lines == 0) {
    std::fprintf(stderr, "usage: generate_log LINES\n");
    return EXIT_FAILURE;
  }
  constexpr std::size_t block = std::size_t{1} << 20;
  bench::simulate::AccessLog generator;
  std::string text;
  for (std::uint64_t line = 1; line <= lines; ++line) {
    generator.append_line(text);
    if (text.size() < block && line < lines) continue;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) return EXIT_FAILURE;
    text.clear();
  }
  return EXIT_SUCCESS;
}
