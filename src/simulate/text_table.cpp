#include "simulate/text_table.h"

#include <algorithm>

#include "simulate/display_text.h"

namespace weir::simulate {
namespace {

std::string line_of(const std::vector<TextTable::Column>& columns, const std::vector<std::size_t>& widths,
                    const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string cell = i < cells.size() ? fitted(cells[i], widths[i]) : std::string{};
    const std::string gap(widths[i] - display_width(cell), ' ');
    line += "  ";
    line += columns[i].side == TextTable::Column::Side::left ? cell + gap : gap + cell;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string styled(const std::string& text, const char* code, Colour colour) {
  return colour == Colour::on ? std::string(code) + text + "\033[0m" : text;
}

}  // namespace

std::string bold(const std::string& text, Colour colour) {
  return styled(text, "\033[1m", colour);
}

std::string dim(const std::string& text, Colour colour) {
  return styled(text, "\033[2m", colour);
}

std::string TextTable::text(Colour colour) const {
  const std::vector<std::size_t> width = widths();
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string text = dim(line_of(columns_, width, titles), colour) + "\n";
  for (const auto& row : rows_) text += line_of(columns_, width, row) + "\n";
  return text;
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, i < row.size() ? display_width(row[i]) : 0);
    widths.push_back(std::min(width, std::max(columns_[i].widest, display_width(columns_[i].title))));
  }
  return widths;
}

}  // namespace weir::simulate
