#include "app/admin_client.h"

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>

#include "app/client_socket.h"
#include "app/environment.h"
#include "app/options.h"
#include "server/admin_token.h"
#include "server/config.h"
#include "server/token_file.h"

namespace weir::app {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;

// Empty: none is shown. Who only reads may do without, unless a file was named.
Result<std::string> token_for(const AdminOptions& options, Right right, const Place& place) {
  if (!options.token_file.empty()) return server::read_token(options.token_file);
  const std::filesystem::path directory = server::default_config(environment()).state.directory;
  if (!place.local() || directory.empty()) {
    if (right == Right::read) return std::string();
    return failure(place.text(), "changes ask for the server's admin token; --token-file FILE names it");
  }
  auto token = server::read_token(directory / server::admin_token_file);
  if (token || right == Right::change) return token;
  return std::string();
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

void add_admin_options(CLI::App& line, AdminOptions& options) {
  add_text(line, "--admin", options.address, "ADDRESS", "The server's admin door (default: 127.0.0.1:8089)");
  add_file(line, "--token-file", options.token_file, "The token to show");
  add_file(line, "--ca", options.ca, "Who signed the server's certificate (https)");
}

Result<AdminAnswer> ask_admin(const AdminOptions& options, Right right, std::string_view target) {
  const auto place = Place::parse(options.address);
  if (!place) return failure("--admin: " + place.error().where, place.error().what);
  const auto token = token_for(options, right, *place);
  if (!token) return tl::unexpected(token.error());
  auto socket = ClientSocket::connect(*place, options.ca);
  if (!socket) return tl::unexpected(socket.error());

  // HTTP/1.0, so that the answer ends with the connection.
  std::string request = right == Right::change ? "POST " : "GET ";
  request += target;
  request += " HTTP/1.0\r\nHost: ";
  request += place->host.empty() ? "localhost" : place->text().substr(place->tls ? std::string("https://").size() : 0);
  if (!token->empty()) request += "\r\nX-Weir-Token: " + *token;
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

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~=:";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (plain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += {'%', digits[byte >> 4U], digits[byte & 0xFU]};
    }
  }
  return encoded;
}

}  // namespace weir::app
