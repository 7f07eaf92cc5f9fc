#include "store/redis/url.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/number.h"
#include "base/percent.h"

namespace weir::store::redis {
namespace {

constexpr std::string_view forms =
    "write redis://HOST:6379/0, rediss://HOST:6379/0 (with TLS) or unix:///run/redis.sock?db=0";
constexpr std::uint16_t default_port = 6379;
constexpr std::string_view authority_mark = "://";

// Returns the text for messages: everything before the last @ may contain a password.
std::string shown(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return std::string(text);
  const std::size_t mark = text.find(authority_mark);
  const std::size_t begin = mark < at ? mark + authority_mark.size() : 0;
  return std::string(text.substr(0, begin)) + "..." + std::string(text.substr(at));
}

template <class Number>
std::optional<Number> parse_number(std::string_view text, Number most) {
  const auto number = base::parse_number<Number>(text);
  return number && *number >= 0 && *number <= most ? number : std::nullopt;
}

// A NUL would truncate the text in system calls.
std::optional<std::string> percent_decoded(std::string_view text) {
  return text.find("%00") == std::string_view::npos ? base::percent_decoded(text) : std::nullopt;
}

// Parses one URL, part by part. The first error ends the parsing.
class UrlReader {
 public:
  explicit UrlReader(std::string_view text) : text_(text), rest_(text) {}

  Result<Url> read() {
    const std::size_t mark = text_.find(authority_mark);
    const std::string_view scheme = text_.substr(0, mark == std::string_view::npos ? 0 : mark);
    if (scheme != "redis" && scheme != "rediss" && scheme != "unix") {
      return wrong("must start with redis://, rediss:// or unix://");
    }
    rest_.remove_prefix(mark + authority_mark.size());
    url_.tls = scheme == "rediss";
    const bool local = scheme == "unix";
    if (auto read = read_user(); !read) return tl::unexpected(std::move(read.error()));
    auto read = local ? read_path() : read_host();
    if (read) read = local ? read_query() : read_database();
    if (!read) return tl::unexpected(std::move(read.error()));
    return std::move(url_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view what) const {
    return failure(shown(text_), std::string(what) + "; " + std::string(forms));
  }

  // Reads user:password@, :password@ or user@.
  Result<void> read_user() {
    const std::size_t at = rest_.rfind('@');
    if (at == std::string_view::npos) return {};
    const std::string_view both = rest_.substr(0, at);
    if (both.find_first_of("/?#[") != std::string_view::npos) {
      return wrong("has one of / ? # [ before its @: in a user or password, encode them as %2F %3F %23 %5B");
    }
    rest_.remove_prefix(at + 1);
    const std::size_t colon = both.find(':');
    auto user = percent_decoded(both.substr(0, colon));
    auto password = percent_decoded(colon == std::string_view::npos ? std::string_view() : both.substr(colon + 1));
    if (!user || !password) return wrong("has an invalid percent-encoding in its user or password");
    url_.user = std::move(*user);
    url_.password = std::move(*password);
    if (!url_.user.empty() && url_.password.empty()) return wrong("has a user without a password");
    return {};
  }

  Result<void> read_host() {
    const std::string_view authority = rest_.substr(0, rest_.find_first_of("/?#"));
    rest_.remove_prefix(authority.size());
    const bool six = authority.starts_with('[');
    const std::size_t end = six ? authority.find(']') : authority.find(':');
    if (six && end == std::string_view::npos) return wrong("has a [ without a ]");
    const std::string_view host = six ? authority.substr(1, end - 1) : authority.substr(0, end);
    if (host.empty()) return wrong("has no host");
    const bool a_name = host.find_first_of(":%[]\\ \t") == std::string_view::npos;
    const bool an_ip = host.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
    if (six ? !an_ip || a_name : !a_name) return wrong("has an invalid host: must be a name or an IP address");
    url_.endpoint.host = host;
    url_.endpoint.port = default_port;
    return read_port(authority.substr(std::min(authority.size(), end + (six ? 1 : 0))));
  }

  Result<void> read_port(std::string_view text) {
    if (text.empty()) return {};
    const auto port = text.front() == ':' ? parse_number<int>(text.substr(1), 65'535) : std::nullopt;
    if (port && *port > 0) {
      url_.endpoint.port = static_cast<std::uint16_t>(*port);
      return {};
    }
    if (text.find(':', 1) != std::string_view::npos) return wrong("has several colons: write an IPv6 address in [ ]");
    return wrong("has an invalid port: must be 1 to 65535");
  }

  // Reads /DATABASE.
  Result<void> read_database() {
    if (rest_.empty() || rest_ == "/") return {};
    if (rest_.find_first_of("?#") != std::string_view::npos) {
      return wrong("has a ? or #; options are set next to `urls`, not in them");
    }
    return take_database(rest_.substr(1));
  }

  Result<void> read_path() {
    const std::string_view path = rest_.substr(0, rest_.find_first_of("?#"));
    rest_.remove_prefix(path.size());
    auto plain = percent_decoded(path);
    if (!plain) return wrong("has an invalid percent-encoding in its path");
    if (!plain->starts_with('/') || plain->size() == 1) return wrong("has no absolute path: write three slashes");
    constexpr std::size_t longest = 107;  // the maximum of sockaddr_un
    if (plain->size() > longest) return wrong("has a path of more than 107 bytes: choose a shorter one");
    url_.endpoint.path = std::move(*plain);
    return {};
  }

  // Reads ?db=DATABASE.
  Result<void> read_query() {
    if (rest_.empty()) return {};
    constexpr std::string_view known = "?db=";
    if (!rest_.starts_with(known)) return wrong("has an unknown parameter: only ?db= is supported");
    return take_database(rest_.substr(known.size()));
  }

  Result<void> take_database(std::string_view text) {
    constexpr int most = 65'535;
    const auto database = parse_number<int>(text, most);
    if (!database) return wrong("has an invalid database: must be 0 to 65535");
    url_.database = *database;
    return {};
  }

  std::string_view text_;
  std::string_view rest_;
  Url url_;
};

}  // namespace

Result<Url> parse_url(std::string_view text) {
  return UrlReader(text).read();
}

}  // namespace weir::store::redis
