// How commands reach a running server: the options that they share, and one request to its admin listener.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "app/http_client.h"
#include "app/options.h"
#include "weir/result.h"

namespace weir::app {

struct AdminOptions {
  std::string config;       // empty: as weir serve finds it
  std::string address;      // empty: as weir.yaml says
  std::string token_file;   // empty: by weir.yaml, or the one in the state directory
  std::string ca;           // empty: on this machine, the certificate that weir.yaml names
  std::string certificate;  // shown to a server that asks for one
  std::string key;
};

// `options` outlives the parsing.
void add_admin_options(CLI::App& line, AdminOptions& options);

// The help's paragraph about them.
inline constexpr auto admin_footer =
    "The command talks to the server's admin listener. Where that is, and which token it wants, is in the\n"
    "weir.yaml that the server was started with: --config FILE, else WEIR_CONFIG, else /etc/weir/weir.yaml,\n"
    "else the defaults. --admin names another place: HOST:PORT, https://HOST:PORT or unix:PATH.\n";

// JSON from the server, read by pointers (RFC 6901): `/policy/digest`, `/listeners/0/name`.
class JsonAnswer {
 public:
  [[nodiscard]] static std::optional<JsonAnswer> parse(std::string_view text);

  // A text as it is, anything else as JSON writes it; empty if it is null or absent.
  [[nodiscard]] std::string text(const std::string& pointer) const;
  [[nodiscard]] bool is_true(const std::string& pointer) const { return text(pointer) == "true"; }
  // Zero if it is none, or absent.
  [[nodiscard]] std::uint64_t number(const std::string& pointer) const;
  // Of an array.
  [[nodiscard]] std::size_t size(const std::string& pointer) const;
  [[nodiscard]] std::vector<std::string> texts(const std::string& pointer) const;

 private:
  std::unique_ptr<simdjson::dom::parser> parser_ = std::make_unique<simdjson::dom::parser>();
  simdjson::dom::element root_;  // in the parser
};

struct AdminAnswer {
  std::string text;
  JsonAnswer json;  // the same
};

enum class Right { none, read, change };  // health needs none

// How the server is reached, and with what.
struct Access {
  Place place;
  TlsTrust trust;
  std::string token;  // empty: none is shown
};

[[nodiscard]] Result<Access> find_access(const AdminOptions& options, Right right);

// An answer that is no success is an error in the server's words.
[[nodiscard]] Result<AdminAnswer> admin_request(const AdminOptions& options, Right right, std::string_view target);
[[nodiscard]] Result<AdminAnswer> admin_request(const Access& access, Right right, std::string_view target);

// An answer that is read as it comes: /v1/stream.
[[nodiscard]] Result<HttpStream> admin_stream(const Access& access, std::string_view target);

}  // namespace weir::app
