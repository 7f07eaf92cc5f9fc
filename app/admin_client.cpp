#include "app/admin_client.h"

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "app/client_socket.h"
#include "app/environment.h"
#include "app/options.h"
#include "observe/hash_key_file.h"
#include "policy/problem.h"
#include "server/admin_token.h"
#include "server/config_load.h"
#include "server/sources.h"
#include "server/token_file.h"

namespace weir::app {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;

constexpr auto usual_place = "127.0.0.1:8089";

// How the server is reached, and with what.
struct Access {
  Place place;
  TlsTrust trust;
  std::string token;  // empty: none is shown
};

// Where a server that listens on `address` is asked from its own machine.
Result<Place> place_of(const net::Address& address, bool tls) {
  if (address.unix_socket()) return Place{.host = {}, .port = {}, .path = address.host()};
  if (address.port() == 0) return failure(address.text(), "the system chose the port; --admin ADDRESS says which");
  const std::string host = address.host();
  const bool is_any = host == "0.0.0.0" || host == "::";  // which takes IPv4 as well
  return Place{.host = is_any ? "127.0.0.1" : host, .port = std::to_string(address.port()), .path = {}, .tls = tls};
}

Result<Place> place_by(const AdminOptions& options, const server::Config& config) {
  if (!options.address.empty()) {
    auto place = Place::parse(options.address);
    if (!place) return failure("--admin: " + place.error().where, place.error().what);
    return place;
  }
  const auto& door = config.doors.admin;
  if (!door) return failure("doors.admin", "is off in weir.yaml, so that the server cannot be asked");
  return place_of(door->listen.front(), door->tls.has_value());
}

// Whether weir.yaml is about the server that is asked: it says where, or this machine is asked.
bool is_ours(const AdminOptions& options, const Place& place) {
  return options.address.empty() || place.local();
}

// Who only reads may do without, unless a file was named.
Result<std::string> token_for(const AdminOptions& options, Right right, const Place& place,
                              const server::Config& config) {
  if (!options.token_file.empty()) return server::read_token(options.token_file);
  const std::filesystem::path directory = secrets_directory(config);
  const auto& door = config.doors.admin;
  const bool ours = is_ours(options, place);
  if (right == Right::read && ours && door && door->token_file) return server::read_token(*door->token_file);
  if (!ours || directory.empty()) {
    if (right == Right::read) return std::string();
    return failure(place.text(), "changes ask for the server's admin token; --token-file FILE names it");
  }
  auto token = server::read_token(directory / server::admin_token_file);
  if (token || right == Right::change) return token;
  return std::string();
}

TlsTrust trust_for(const AdminOptions& options, const Place& place, const server::Config& config) {
  TlsTrust trust{.ca = options.ca, .pinned = {}, .certificate = options.certificate, .key = options.key};
  const auto& door = config.doors.admin;
  if (options.ca.empty() && options.address.empty() && place.tls && door) trust.pinned = door->tls->certificate_chain;
  if (trust.key.empty()) trust.key = trust.certificate;
  return trust;
}

Result<Access> access_for(const AdminOptions& options, Right right) {
  const bool needs_config = options.address.empty() || options.token_file.empty();
  auto config = needs_config ? server_config(options.config) : Result<server::Config>(server::Config{});
  if (!config) {
    // A server goes on with the file that it had: who only reads, or says where it is, can still ask it.
    if (right == Right::change && options.address.empty()) return tl::unexpected(config.error());
    fmt::print(stderr, "weir: {}\nweir: so the server is asked as without a weir.yaml\n", config.error().message());
    config = server::default_config(environment());
  }
  auto place = place_by(options, *config);
  if (!place) return tl::unexpected(place.error());
  auto token = token_for(options, right, *place, *config);
  if (!token) return tl::unexpected(token.error());
  TlsTrust trust = trust_for(options, *place, *config);
  return Access{std::move(*place), std::move(trust), std::move(*token)};
}

struct Response {
  unsigned status = 0;
  std::string_view body;
};

// Behind `prefix`, which is in lower case; nothing if it is not in the head, or no number follows.
std::optional<std::size_t> number_behind(std::string_view prefix, std::string head) {
  for (char& c : head) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const std::size_t at = head.find(prefix);
  if (at == std::string::npos) return {};
  std::size_t number = 0;
  const auto read = std::from_chars(head.data() + at + prefix.size(), head.data() + head.size(), number);
  return read.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

// Nothing if it is no response, or not a whole one.
std::optional<Response> read_response(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (!bytes.starts_with("HTTP/1.") || end == std::string_view::npos) return {};
  const std::string head(bytes.substr(0, end));
  const auto status = number_behind(" ", head);
  const auto length = number_behind("\r\ncontent-length: ", head);
  const std::string_view body = bytes.substr(end + 4);
  if (!status || (length && *length != body.size())) return {};
  return Response{static_cast<unsigned>(*status), body};
}

tl::unexpected<Error> refused(const Place& place, const Response& response) {
  const auto problem = JsonAnswer::parse(response.body);
  std::string detail = problem ? problem->text("/detail") : "";
  if (detail.empty()) detail = "answered with status " + std::to_string(response.status) + "; is it Weir's admin door?";
  if (response.status == 401) detail += " --token-file FILE shows one.";
  return failure(place.text(), std::move(detail));
}

}  // namespace

Result<server::Config> server_config(const std::string& flag) {
  const auto named = flag.empty() ? std::nullopt : std::optional<std::filesystem::path>(flag);
  const auto found = server::find_config(named, environment());
  if (!found.file) return server::default_config(environment());
  auto loaded = server::load_config(*found.file, environment());
  if (loaded.config) return *std::move(loaded.config);
  for (const policy::Problem& problem : loaded.problems) {
    if (problem.severity != policy::Severity::error) continue;
    return failure(problem.file, fmt::format("{}:{}: {}; --config FILE names another", problem.at.line,
                                             problem.at.column, problem.message));
  }
  return failure(found.file->string(), "cannot be read");
}

std::filesystem::path secrets_directory(const server::Config& config) {
  constexpr auto service_state = "/var/lib/weir";
  const std::filesystem::path& directory = config.state.directory;
  if (config.state.is_named || !environment().state_directory.empty()) return directory;
  std::error_code error;
  const bool has_own = !directory.empty() && std::filesystem::exists(directory / server::admin_token_file, error);
  const bool has_service =
      std::filesystem::exists(std::filesystem::path(service_state) / server::admin_token_file, error);
  return !has_own && has_service ? service_state : directory;
}

Result<std::filesystem::path> hash_key_file_by(const server::Config& config) {
  if (config.log.hash_key_file) return *config.log.hash_key_file;
  const std::filesystem::path directory = secrets_directory(config);
  if (!directory.empty()) return directory / observe::hash_key_file;
  return failure("HOME", "is not set, so there is no state directory; --key-file FILE names the key");
}

void add_admin_options(CLI::App& line, AdminOptions& options) {
  add_file(line, "--config", options.config, "The weir.yaml of the server");
  add_text(line, "--admin", options.address, "ADDRESS", fmt::format("Its admin door (default: {})", usual_place));
  add_file(line, "--token-file", options.token_file, "The token to show");
  add_file(line, "--ca", options.ca, "Who signed the server's certificate (https)");
  add_file(line, "--certificate", options.certificate, "A certificate to show, for a server that asks for one");
  add_file(line, "--key", options.key, "Its key (default: in the same file)");
}

Result<AdminAnswer> ask_admin(const AdminOptions& options, Right right, std::string_view target) {
  const auto access = access_for(options, right);
  if (!access) return tl::unexpected(access.error());
  const Place* const place = &access->place;
  auto socket = ClientSocket::connect(*place, access->trust);
  if (!socket) return tl::unexpected(socket.error());

  // HTTP/1.0, so that the answer ends with the connection.
  std::string request = right == Right::change ? "POST " : "GET ";
  request += target;
  request += " HTTP/1.0\r\nHost: ";
  request += place->host.empty() ? "localhost" : place->text().substr(place->tls ? std::string("https://").size() : 0);
  if (!access->token.empty()) request += "\r\nX-Weir-Token: " + access->token;
  request += "\r\nContent-Length: 0\r\n\r\n";
  if (auto sent = socket->send(request); !sent) return tl::unexpected(sent.error());

  const auto bytes = socket->receive(most_bytes);
  if (!bytes) return tl::unexpected(bytes.error());
  const auto response = read_response(*bytes);
  if (!response) return failure(place->text(), "its answer is not HTTP, or not whole; is it Weir's admin door?");
  if (response->status != 200) return refused(*place, *response);
  auto json = JsonAnswer::parse(response->body);
  if (!json) return failure(place->text(), "the answer is not JSON; is it Weir's admin door?");
  return AdminAnswer{std::string(response->body), std::move(*json)};
}

std::string percent_encoded(std::string_view text, Encoding encoding) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~=:";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (plain.find(c) != std::string_view::npos && !(encoding == Encoding::parameter && c == '=')) {
      encoded += c;
    } else {
      encoded += {'%', digits[byte >> 4U], digits[byte & 0xFU]};
    }
  }
  return encoded;
}

}  // namespace weir::app
