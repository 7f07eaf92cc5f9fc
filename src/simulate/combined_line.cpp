#include "simulate/combined_line.h"

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"
#include "base/hex.h"

namespace weir::simulate {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::size_t max_method_length = 32;

// Does the same as substr() without its bounds check, which the compiler does not inline here.
constexpr std::string_view front_of(std::string_view text, std::size_t end) noexcept {
  return {text.data(), end};
}
constexpr std::string_view rest_of(std::string_view text, std::size_t begin) noexcept {
  return {text.data() + begin, text.size() - begin};
}

constexpr bool is_method_char(char c) noexcept {
  return base::is_letter(c) || c == '-' || c == '_';
}

bool is_method(std::string_view text) noexcept {
  return !text.empty() && text.size() <= max_method_length && std::ranges::all_of(text, is_method_char);
}

std::string_view without_protocol(std::string_view rest) noexcept {
  constexpr std::string_view mark = " HTTP/";
  constexpr std::size_t nominal_length = std::string_view(" HTTP/1.1").size();
  if (rest.size() > nominal_length && rest_of(rest, rest.size() - nominal_length).starts_with(mark)) {
    return front_of(rest, rest.size() - nominal_length);
  }
  const std::size_t space = rest.rfind(' ');
  if (space == npos || !rest_of(rest, space).starts_with(mark)) return rest;
  return front_of(rest, space);
}

// Appends the decoded form of the escape at the front of `text` and returns the length of the escape, or 0 if there is
// none.
std::size_t take_escape(std::string_view text, std::string& result) {
  if (text.size() < 2) return 0;
  if (text[1] == 'x') {
    const int byte = text.size() < 4 ? -1 : base::hex_byte(text[2], text[3]);
    if (byte < 0) return 0;
    result += static_cast<char>(byte);
    return 4;
  }
  constexpr std::string_view letters = "\"\\bnrtvf";
  constexpr std::string_view meant = "\"\\\b\n\r\t\v\f";
  const std::size_t found = letters.find(text[1]);
  if (found == npos) return 0;
  result += meant[found];
  return 2;
}

// Decodes the escapes of servers: \xHH (nginx and Apache), \" \\ \b
//  \r \t \v \f (Apache). Other backslashes stay. Returns `text` itself if it has no backslash, or else a view into
// `scratch`.
std::string_view unescaped(std::string_view text, std::string& scratch) {
  std::size_t next = text.find('\\');
  if (next == npos) return text;
  scratch.clear();
  while (next != npos) {
    scratch.append(text.substr(0, next));
    text.remove_prefix(next);
    const std::size_t length = take_escape(text, scratch);
    if (length == 0) scratch += '\\';
    text.remove_prefix(std::max<std::size_t>(length, 1));
    next = text.find('\\');
  }
  scratch.append(text);
  return scratch;
}

constexpr std::string_view present(std::string_view text) noexcept {
  return text == "-" || text == "\"\"" ? std::string_view{} : text;
}

// Finds "[10/Oct/2023:13:55:36 +0000] " followed by a quote. The client chooses the user name before it, and the server
// escapes only quotes, so only the quote makes the position certain.
tl::expected<std::size_t, Fault> find_time(std::string_view line, std::size_t from) noexcept {
  Fault fault = Fault::no_time;
  for (std::size_t at = line.find('[', from); at != npos; at = line.find('[', at + 1)) {
    constexpr std::size_t close = 1 + text::clf_time_length;
    if (line[at - 1] != ' ') continue;
    if (line.size() <= at + close || line[at + close] != ']') {
      if (fault == Fault::no_time) fault = Fault::bad_time;
      continue;
    }
    if (line.size() > at + close + 2 && line[at + close + 1] == ' ' && line[at + close + 2] == '"') return at;
    fault = Fault::no_quoted_request;
  }
  return tl::unexpected(fault);
}

// Returns the position of the first quote that no backslash escapes.
std::size_t find_closing_quote(std::string_view text) noexcept {
  for (std::size_t at = text.find('"'); at != npos; at = text.find('"', at + 1)) {
    std::size_t backslashes = 0;
    while (backslashes < at && text[at - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return at;
  }
  return npos;
}

struct Client {
  std::string_view ip;
  std::string_view user;
};

// Splits "1.2.3.4 - alice" or, with a host, "www.example.org:80 1.2.3.4 - alice". A host is recognized by the "-" in
// third position.
tl::expected<Client, Fault> split_client(std::string_view text) noexcept {
  const std::size_t first = text.find(' ');
  if (first == npos || first == 0) return tl::unexpected(Fault::no_address);
  const std::size_t second = text.find(' ', first + 1);
  if (second == npos) return tl::unexpected(Fault::no_address);
  const std::string_view identity = rest_of(front_of(text, second), first + 1);
  const std::string_view user = rest_of(text, second + 1);
  if (identity != "-" && user.starts_with("- ")) return Client{identity, rest_of(user, 2)};
  return Client{front_of(text, first), user};
}

// Reads the status from the text after the request: " 200 123 ...".
std::uint16_t status_of(std::string_view rest) noexcept {
  if (rest.size() < 4 || rest[0] != ' ' || !base::is_digit(rest[1]) || !base::is_digit(rest[2]) ||
      !base::is_digit(rest[3]))
    return 0;
  if (rest.size() > 4 && rest[4] != ' ') return 0;
  return static_cast<std::uint16_t>((rest[1] - '0') * 100 + (rest[2] - '0') * 10 + (rest[3] - '0'));
}

}  // namespace

tl::expected<RequestLine, Fault> split_request(std::string_view request) noexcept {
  if (request.empty() || request == "-") return tl::unexpected(Fault::no_request);
  const std::size_t space = request.find(' ');
  if (space == npos) return tl::unexpected(Fault::bad_request);
  const RequestLine line{front_of(request, space), without_protocol(rest_of(request, space + 1))};
  if (!is_method(line.method) || line.target.empty() || line.target.front() == ' ') {
    return tl::unexpected(Fault::bad_request);
  }
  return line;
}

Parsed CombinedLines::parse(std::string_view line) {
  // Starts at 1, so that there is a byte before each bracket.
  const auto time = find_time(line, 1);
  if (!time) return tl::unexpected(time.error());
  const auto client = split_client(front_of(line, *time - 1));
  if (!client) return tl::unexpected(client.error());
  const auto at = clock_.read(line.data() + *time + 1);
  if (!at) return tl::unexpected(Fault::bad_time);

  std::string_view rest = rest_of(line, *time + text::clf_time_length + 4);
  const std::size_t quote = find_closing_quote(rest);
  if (quote == npos) return tl::unexpected(Fault::no_quoted_request);
  const auto request = split_request(front_of(rest, quote));
  if (!request) return tl::unexpected(request.error());
  rest.remove_prefix(quote + 1);

  Parsed parsed;
  parsed->at = *at;
  parsed->ip = present(client->ip);
  parsed->user = unescaped(present(client->user), user_);
  parsed->method = request->method;
  parsed->target = unescaped(request->target, target_);
  parsed->status = status_of(rest);
  if (tail_ == Tail::as_headers) read_tail(rest, *parsed);
  return parsed;
}

// Reads the text after the request, " 200 123 "referer" "agent" ...". A common line ends before the first quote.
void CombinedLines::read_tail(std::string_view rest, LogEntry& entry) {
  static constexpr std::array<std::string_view, 2> names{"Referer", "User-Agent"};
  std::size_t count = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t open = rest.find('"');
    if (open == npos) break;
    rest.remove_prefix(open + 1);
    const std::size_t close = find_closing_quote(rest);
    if (close == npos) break;
    const std::string_view value = unescaped(present(rest.substr(0, close)), header_texts_[i]);
    if (!value.empty()) headers_[count++] = {names[i], value};
    rest.remove_prefix(close + 1);
  }
  entry.headers = {headers_.data(), count};
}

}  // namespace weir::simulate
