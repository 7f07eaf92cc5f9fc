// Access to the admin listener of a running server: the options that commands share, and requests.
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
  std::string config;       // empty: the file that weir serve would use
  std::string address;      // empty: from weir.yaml
  std::string token_file;   // empty: from weir.yaml, or in the state directory
  std::string ca;           // empty: on this host, the certificate in weir.yaml
  std::string certificate;  // client certificate
  std::string key;
};

// `options` must outlive the parsing.
void add_admin_options(CLI::App& line, AdminOptions& options);

// The paragraph of the help about these options.
inline constexpr auto admin_footer =
    "The command connects to the server's admin listener. Address and token come from the server's\n"
    "weir.yaml: --config FILE, else WEIR_CONFIG, else /etc/weir/weir.yaml, else the defaults. --admin\n"
    "overrides the address: PORT, HOST:PORT, https://HOST:PORT or unix:PATH.\n";

// JSON from the server, read by pointers (RFC 6901): `/policy/digest`, `/listeners/0/name`.
class JsonAnswer {
 public:
  [[nodiscard]] static std::optional<JsonAnswer> parse(std::string_view text);

  // Returns a string as it is and any other value as JSON; empty if it is null or absent.
  [[nodiscard]] std::string text(const std::string& pointer) const;
  [[nodiscard]] bool is_true(const std::string& pointer) const { return text(pointer) == "true"; }
  // Returns zero if the value is not a number, or absent.
  [[nodiscard]] std::uint64_t number(const std::string& pointer) const;
  // Returns the length of an array.
  [[nodiscard]] std::size_t size(const std::string& pointer) const;
  [[nodiscard]] std::vector<std::string> texts(const std::string& pointer) const;

 private:
  std::unique_ptr<simdjson::dom::parser> parser_ = std::make_unique<simdjson::dom::parser>();
  simdjson::dom::element root_;  // a view into the parser's memory
};

struct AdminAnswer {
  std::string text;
  JsonAnswer json;  // the parsed text
};

enum class Right { none, read, change };  // none: health needs no token

// The address of the server, and the credentials.
struct Access {
  ServerAddress address;
  TlsTrust trust;
  std::string token;  // empty: none
};

[[nodiscard]] Result<Access> find_access(const AdminOptions& options, Right right);

// A response other than 200 is an error with the server's message.
[[nodiscard]] Result<AdminAnswer> admin_request(const AdminOptions& options, Right right, std::string_view target);
[[nodiscard]] Result<AdminAnswer> admin_request(const Access& access, Right right, std::string_view target);

// Sends a request with any method and a JSON body, with the token of find_access().
[[nodiscard]] Result<AdminAnswer> admin_call(const Access& access, std::string_view method, std::string_view target,
                                             std::string_view body = {});

// Opens a response that is read in parts, such as /v1/stream.
[[nodiscard]] Result<HttpStream> admin_stream(const Access& access, std::string_view target);

}  // namespace weir::app
