#include "text/yaml/comments.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/ascii.h"
#include "text/yaml/tree.h"

namespace weir::text {
namespace {

// Follows quotes, brackets and block scalars from line to line: as much of YAML as it takes to tell a comment.
class Scanner {
 public:
  // Where the comment of the next line begins, if it has one.
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

  // The index of the quote that closes, or of the line's last character.
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

  // A character that is neither blank nor in quotes.
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
      // Before a tag or an anchor is the value still to come; in front of a key, nothing else is.
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

  char quote_ = '\0';         // that is open
  std::size_t depth_ = 0;     // of open brackets
  bool begins_value_ = true;  // where a quote, a bracket or a block scalar can begin
  std::size_t node_ = 0;      // the column of the key that a block scalar is of, or of its dash
  bool is_block_ = false;     // in a block scalar is what is
  std::size_t block_ = 0;     // indented further than this column
};

}  // namespace

std::vector<Comment> comments_of(std::string_view text) {
  std::vector<Comment> comments;
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const Places places(text);
  Scanner scanner;
  std::size_t waiting = 0;  // comments from here on stand alone, before the line that they are about
  int number = 0;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = base::trimmed(text.substr(begin, end - begin), "\r");
    const auto hash = scanner.find_comment(line);
    const std::string_view content = line.substr(0, hash.value_or(line.size()));
    const bool is_alone = content.find_first_not_of(" \t") == std::string_view::npos;
    if (hash) {
      const std::string_view said = base::trimmed(line.substr(*hash + 1));
      const std::size_t at = said.empty() ? begin + *hash : static_cast<std::size_t>(said.data() - text.data());
      comments.push_back({said, places.at(at), 0});
    }
    if (!is_alone) {
      for (; waiting < comments.size(); ++waiting) comments[waiting].line = number + 1;
    }
    begin = end + 1;
  }
  return comments;
}

}  // namespace weir::text
