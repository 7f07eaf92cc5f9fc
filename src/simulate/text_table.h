// A table for the terminal: columns aligned, widths bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::simulate {

// Whether to write escape sequences for a terminal.
enum class Colour : std::uint8_t { off, on };

[[nodiscard]] std::string bold(const std::string& text, Colour colour);
[[nodiscard]] std::string dim(const std::string& text, Colour colour);

class TextTable {
 public:
  struct Column {
    enum class Side : std::uint8_t { left, right };

    std::string title;
    Side side = Side::right;
    std::size_t widest = 24;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // A cell for each column; cells that are missing are empty. What is too wide is cut.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

  // Lines that end with a line break, indented by two.
  [[nodiscard]] std::string text(Colour colour) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace weir::simulate
