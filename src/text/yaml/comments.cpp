#include "text/yaml/comments.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/ascii.h"
#include "text/yaml/tree.h"

namespace weir::text {
namespace {

// Tracks quotes, brackets and block scalars across lines: just enough YAML to recognize a comment.
class Scanner {
 public:
  // The start of the comment in the next line, if any.
  std::optional<std::size_t> find_comment(std::string_view line) {
    if (is_in_block(line)) return {};
    begins_value_ = begins_value_ || quote_ == '\0';
    node_ = std::min(line.find_first_not_of(' '), line.size());
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (quote_ != '\0') {
        i = skip_quoted(line, i);
      } else if (line[i] == '#' && (i == 0 || base::is_blank(line[i - 1]))) {
        return i;
      } else if (!base::is_blank(line[i])) {
        read(line, i);
      }
    }
    return {};
  }

 private:
  bool is_in_block(std::string_view line) {
    const std::size_t first = line.find_first_not_of(' ');
    is_block_ = is_block_ && (first == std::string_view::npos || first > block_);
    return is_block_;
  }

  // The index of the closing quote, or of the line's last character.
  std::size_t skip_quoted(std::string_view line, std::size_t i) {
    for (; i < line.size(); ++i) {
      if (quote_ == '"' && line[i] == '\\') {
        ++i;
      } else if (line[i] == quote_) {
        if (quote_ == '"' || i + 1 >= line.size() || line[i + 1] != quote_) {
          quote_ = '\0';
          begins_value_ = false;
          return i;
        }
        ++i;
      }
    }
    return line.size();
  }

  // Handles a character that is neither blank nor quoted.
  void read(std::string_view line, std::size_t i) {
    const char c = line[i];
    const bool ends_word = i + 1 >= line.size() || base::is_blank(line[i + 1]);
    if (!begins_value_) {
      begins_value_ = (c == ':' && (ends_word || depth_ > 0)) || (c == ',' && depth_ > 0);
      if (depth_ > 0) follow_brackets(c);
    } else if (c == '\'' || c == '"') {
      quote_ = c;
    } else if (c == '[' || c == '{' || c == ']' || c == '}') {
      follow_brackets(c);
    } else if (c == '-' && ends_word && depth_ == 0) {
      node_ = std::min(line.find_first_not_of(' ', i + 1), line.size());
      if (node_ < line.size() && (line[node_] == '|' || line[node_] == '>')) node_ = i;
    } else if ((c == '|' || c == '>') && depth_ == 0) {
      is_block_ = true;
      block_ = node_;
      begins_value_ = false;
    } else {
      // After a tag or an anchor, the value is still to come. After anything else, a value starts only at a comma in
      // brackets.
      begins_value_ = c == '!' || c == '&' ? begins_value_ : c == ',' && depth_ > 0;
    }
  }

  void follow_brackets(char c) {
    if (c == '[' || c == '{') {
      ++depth_;
      begins_value_ = true;
    } else if (c == ']' || c == '}') {
      depth_ = depth_ > 0 ? depth_ - 1 : 0;
      begins_value_ = false;
    }
  }

  char quote_ = '\0';         // the open quote
  std::size_t depth_ = 0;     // number of open brackets
  bool begins_value_ = true;  // a quote, a bracket or a block scalar can start here
  std::size_t node_ = 0;      // column of the key or dash that a block scalar belongs to
  bool is_block_ = false;     // the previous line is part of a block scalar
  std::size_t block_ = 0;     // the block scalar is indented further than this column
};

}  // namespace

std::vector<Comment> comments_of(std::string_view text) {
  std::vector<Comment> comments;
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const LineIndex lines(text);
  Scanner scanner;
  std::size_t waiting = 0;  // later comments are on their own lines, before the line that they belong to
  int number = 0;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = base::trimmed(text.substr(begin, end - begin), "\r");
    const auto hash = scanner.find_comment(line);
    const std::string_view content = line.substr(0, hash.value_or(line.size()));
    const bool is_alone = content.find_first_not_of(" \t") == std::string_view::npos;
    if (hash) {
      const std::string_view comment = base::trimmed(line.substr(*hash + 1));
      const std::size_t at = comment.empty() ? begin + *hash : static_cast<std::size_t>(comment.data() - text.data());
      comments.push_back({comment, lines.at(at), 0});
    }
    if (!is_alone) {
      for (; waiting < comments.size(); ++waiting) comments[waiting].line = number + 1;
    }
    begin = end + 1;
  }
  return comments;
}

}  // namespace weir::text
