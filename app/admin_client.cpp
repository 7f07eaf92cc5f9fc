#include "app/admin_client.h"

#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "app/options.h"
#include "app/server_config.h"
#include "server/secrets.h"
#include "server/sources.h"

namespace weir::app {
namespace {

// Returns the address to connect to, on the same host, for a server that listens on `address`.
Result<ServerAddress> address_of(const net::Address& address, bool tls) {
  if (address.unix_socket()) return ServerAddress{{.host = {}, .port = 0, .path = address.host()}};
  if (address.port() == 0) return failure(address.text(), "the system chose the port; pass it with --admin ADDRESS");
  const std::string host = address.host();
  const bool is_any = host == "0.0.0.0" || host == "::";  // a wildcard address, which also accepts IPv4
  return ServerAddress{{.host = is_any ? "127.0.0.1" : host, .port = address.port(), .path = {}}, tls};
}

Result<ServerAddress> address_by(const AdminOptions& options, const server::Config& config) {
  if (!options.address.empty()) {
    auto address = ServerAddress::parse(options.address);
    if (!address) return failure("--admin: " + address.error().where, address.error().what);
    return address;
  }
  const auto* listener = config.listener("admin");
  if (!listener) return failure("listeners.admin", "off in weir.yaml; enable it, or use --admin ADDRESS");
  return address_of(listener->listen.front(), listener->tls.has_value());
}

// True if weir.yaml describes this server: the address was taken from it, or the server is on this host.
bool is_ours(const AdminOptions& options, const ServerAddress& address) {
  return options.address.empty() || address.local();
}

// Returns the token to send. Changes require one. For reading, a missing file is an error only if a flag or weir.yaml
// names it.
Result<std::string> token_for(const AdminOptions& options, Right right, const ServerAddress& address,
                              const server::Config& config) {
  if (right == Right::none) return std::string();
  if (!options.token_file.empty()) return server::read_writing_token(options.token_file);
  const std::filesystem::path directory = secrets_directory(config);
  const auto* listener = config.listener("admin");
  const bool ours = is_ours(options, address);
  if (right == Right::read && ours && listener && listener->token_file)
    return server::read_token(*listener->token_file);
  if (!ours || directory.empty()) {
    if (right == Right::read) return std::string();
    return failure(address.text(), "changes require the admin token; use --token-file FILE");
  }
  auto token = server::read_writing_token(directory / server::admin_token_file);
  if (token || right == Right::change) return token;
  return std::string();
}

TlsTrust trust_for(const AdminOptions& options, const ServerAddress& address, const server::Config& config) {
  TlsTrust trust{.ca = options.ca, .pinned = {}, .certificate = options.certificate, .key = options.key};
  const auto* listener = config.listener("admin");
  if (options.ca.empty() && options.address.empty() && address.tls && listener)
    trust.pinned = listener->tls->certificate_chain;
  if (trust.key.empty()) trust.key = trust.certificate;
  return trust;
}

tl::unexpected<Error> error_from(const ServerAddress& address, const HttpResponse& response) {
  const auto problem = JsonAnswer::parse(response.body);
  std::string detail = problem ? problem->text("/detail") : "";
  if (detail.empty())
    detail = "responded with status " + std::to_string(response.status) + "; is this Weir's admin listener?";
  if (response.status == 401) detail += " Use --token-file FILE.";
  return failure(address.text(), std::move(detail));
}

}  // namespace

Result<Access> find_access(const AdminOptions& options, Right right) {
  const bool needs_config = options.address.empty() || options.token_file.empty();
  auto config = needs_config ? server_config(options.config) : Result<server::Config>(server::Config{});
  if (!config) {
    // weir.yaml is invalid, but a running server keeps its old configuration, so reads and requests with --admin can
    // still work.
    if (right == Right::change && options.address.empty()) return tl::unexpected(config.error());
    fmt::print(stderr, "weir: {}\nweir: ignoring weir.yaml, contacting the server with default settings\n",
               config.error().message());
    config = server::default_config(environment());
  }
  auto address = address_by(options, *config);
  if (!address) return tl::unexpected(address.error());
  auto token = token_for(options, right, *address, *config);
  if (!token) return tl::unexpected(token.error());
  TlsTrust trust = trust_for(options, *address, *config);
  return Access{std::move(*address), std::move(trust), std::move(*token)};
}

void add_admin_options(CLI::App& line, AdminOptions& options) {
  add_file(line, "--config", options.config, "weir.yaml of the server");
  add_text(line, "--admin", options.address, "ADDRESS", "Address of its admin listener (default: 127.0.0.1:8089)");
  add_file(line, "--token-file", options.token_file, "File with the token to send");
  add_file(line, "--ca", options.ca, "CA that signed the server's certificate (https)");
  add_file(line, "--certificate", options.certificate, "Client certificate, if the server requires one");
  add_file(line, "--key", options.key, "Its key (default: in the same file)");
}

std::optional<JsonAnswer> JsonAnswer::parse(std::string_view text) {
  JsonAnswer answer;
  if (answer.parser_->parse(text.data(), text.size()).get(answer.root_) != simdjson::SUCCESS) return {};
  return answer;
}

std::string JsonAnswer::text(const std::string& pointer) const {
  simdjson::dom::element element;
  if (root_.at_pointer(pointer).get(element) != simdjson::SUCCESS || element.is_null()) return {};
  std::string_view text;
  if (element.get_string().get(text) == simdjson::SUCCESS) return std::string(text);
  return simdjson::minify(element);
}

std::uint64_t JsonAnswer::number(const std::string& pointer) const {
  std::uint64_t number = 0;
  return root_.at_pointer(pointer).get_uint64().get(number) == simdjson::SUCCESS ? number : 0;
}

std::size_t JsonAnswer::size(const std::string& pointer) const {
  simdjson::dom::array array;
  return root_.at_pointer(pointer).get_array().get(array) == simdjson::SUCCESS ? array.size() : 0;
}

std::vector<std::string> JsonAnswer::texts(const std::string& pointer) const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < size(pointer); ++i) texts.push_back(text(fmt::format("{}/{}", pointer, i)));
  return texts;
}

Result<AdminAnswer> admin_request(const AdminOptions& options, Right right, std::string_view target) {
  const auto access = find_access(options, right);
  if (!access) return tl::unexpected(access.error());
  return admin_request(*access, right, target);
}

Result<AdminAnswer> admin_request(const Access& access, Right right, std::string_view target) {
  return admin_call(access, right == Right::change ? "POST" : "GET", target);
}

Result<AdminAnswer> admin_call(const Access& access, std::string_view method, std::string_view target,
                               std::string_view body) {
  const auto& [address, trust, token] = access;
  const auto response = http_request(address, trust, method, target, token, body);
  if (!response) return tl::unexpected(response.error());
  if (response->status != 200) return error_from(address, *response);
  auto json = JsonAnswer::parse(response->body);
  if (!json) return failure(address.text(), "response is not JSON; is this Weir's admin listener?");
  return AdminAnswer{response->body, std::move(*json)};
}

Result<HttpStream> admin_stream(const Access& access, std::string_view target) {
  const auto& [address, trust, token] = access;
  auto stream = HttpStream::open(address, trust, target, token);
  if (!stream || stream->status() == 200) return stream;
  HttpResponse response{.status = stream->status(), .body = {}};
  constexpr std::size_t max_error_body = 65536;
  while (response.body.size() < max_error_body) {
    const auto more = stream->read();
    if (!more || more->empty()) break;
    response.body += *more;
  }
  return error_from(address, response);
}

}  // namespace weir::app
