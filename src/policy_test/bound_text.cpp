// Parses the text of a bound:
//   N per SPAN [for [METHOD] PATH] by WHOM [in tier NAME]
//   N at once  [for [METHOD] PATH] by WHOM [in tier NAME]
// SPAN is a duration, or a unit: `1min`, `minute`, `month`. WHOM is `everyone`, `ip ADDRESS`, or
// `one [anonymous|authenticated] ip|user|api_key|header:NAME|IDENTITY`.
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy_test/test_file.h"
#include "text/address.h"
#include "text/yaml/scalar.h"

namespace weir::policy_test {
namespace {

constexpr std::string_view bound_form = "write it like 20 per 1min for POST /login by one ip";

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(" \t\r\n"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

class BoundParser {
 public:
  explicit BoundParser(std::string_view text) : text_(text), words_(words_of(text)) {}

  Result<BoundSpec> parse() {
    bound_.text = std::string(text_);
    bound_.route.trailing_wildcard = true;
    const bool is_parsed = parse_count() && parse_span() && parse_route() && parse_caller() && parse_tier();
    if (is_parsed && next_ < words_.size()) wrong(words_[next_], "unexpected; " + std::string(bound_form));
    if (error_) return tl::unexpected(*error_);
    return std::move(bound_);
  }

 private:
  bool wrong(std::string_view word, std::string what) {
    if (!error_) error_ = Error{text::in_quotes(word.empty() ? text_ : word), std::move(what)};
    return false;
  }
  [[nodiscard]] std::string_view peek() const noexcept { return next_ < words_.size() ? words_[next_] : ""; }
  std::string_view take() noexcept { return next_ < words_.size() ? words_[next_++] : ""; }
  [[nodiscard]] bool takes(std::string_view word) noexcept {
    if (peek() != word) return false;
    ++next_;
    return true;
  }

  [[nodiscard]] bool parse_count() {
    const std::string_view word = take();
    const auto count = text::parse_whole(word);
    if (!count) return wrong(word, "not a number of requests: " + std::string(bound_form));
    bound_.at_most = *count;
    return true;
  }

  [[nodiscard]] bool parse_span() {
    if (takes("at")) return takes("once") || wrong(peek(), "write `at once`");
    if (!takes("per")) return wrong(peek(), "missing `per` or `at once`: " + std::string(bound_form));
    const std::string_view word = take();
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> units{
        {{"second", "1s"}, {"minute", "1min"}, {"hour", "1h"}, {"day", "1day"}}};
    for (const auto& [unit, length] : units) {
      if (word == unit) bound_.per = text::parse_duration(length).value();
    }
    for (const auto unit : {core::CalendarUnit::week, core::CalendarUnit::month, core::CalendarUnit::year}) {
      if (word == core::name_of(unit)) bound_.calendar = unit;
    }
    if (!bound_.is_at_once()) return true;
    const auto duration = text::parse_duration(word);
    if (!duration) return wrong(word, "not a span: write 1min, 10s, 1h, day or month");
    bound_.per = *duration;
    return true;
  }

  [[nodiscard]] bool parse_route() {
    if (!takes("for")) return true;
    std::string route(take());
    if (!route.starts_with('/')) route += " " + std::string(take());
    auto parsed = policy::parse_route(route);
    if (!parsed) return wrong(route, parsed.error().what);
    bound_.route = *std::move(parsed);
    return true;
  }

  [[nodiscard]] bool parse_caller() {
    BoundCaller& by = bound_.by;
    if (!takes("by")) return wrong(peek(), "missing `by`: write `by one ip`, `by one user` or `by everyone`");
    if (takes("everyone")) return true;
    if (takes("ip")) {
      by.kind = BoundCaller::Kind::ip;
      by.address = std::string(take());
      return text::Address::parse(by.address) ||
             wrong(by.address, "invalid address: write `by ip 192.0.2.7` or `by one ip`");
    }
    if (!takes("one")) return wrong(peek(), "unknown caller: write `by one ip`, `by one user` or `by everyone`");
    if (takes("anonymous")) by.identity = BoundCaller::Identity::anonymous;
    if (takes("authenticated")) by.identity = BoundCaller::Identity::authenticated;
    return parse_kind(take());
  }

  [[nodiscard]] bool parse_kind(std::string_view word) {
    BoundCaller& by = bound_.by;
    constexpr std::string_view header = "header:";
    if (word == "ip") {
      by.kind = BoundCaller::Kind::ip;
    } else if (word == "user") {
      by.kind = BoundCaller::Kind::user;
    } else if (word == "api_key") {
      by.kind = BoundCaller::Kind::api_key;
    } else if (word.starts_with(header)) {
      const auto name = text::parse_header_name(word.substr(header.size()));
      if (!name) return wrong(word, name.error().what);
      by.kind = BoundCaller::Kind::header;
      by.name = *name;
    } else {
      auto name = text::parse_name(word);
      if (!name) return wrong(word, "unknown caller: write ip, user, api_key, header:NAME or a named identity");
      by.kind = BoundCaller::Kind::identity;
      by.name = *std::move(name);
    }
    const bool contradicts = by.kind == BoundCaller::Kind::user && by.identity == BoundCaller::Identity::anonymous;
    return !contradicts || wrong("anonymous user", "a user is never anonymous");
  }

  [[nodiscard]] bool parse_tier() {
    if (!takes("in")) return true;
    if (!takes("tier")) return wrong(peek(), "write `in tier NAME`");
    const std::string_view word = take();
    auto name = text::parse_name(word);
    if (!name) return wrong(word, name.error().what);
    bound_.tier = Written<std::string>{*std::move(name), {}};
    return true;
  }

  std::string_view text_;
  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
  BoundSpec bound_;
  std::optional<Error> error_;
};

}  // namespace

Result<BoundSpec> parse_bound(std::string_view text) {
  return BoundParser(text).parse();
}

}  // namespace weir::policy_test
