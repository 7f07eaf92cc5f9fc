#include "door/rls/reflection.h"

#include <cstdint>
#include <string>

#include "wire/grpc/status.h"
#include "wire/protobuf/reader.h"
#include "wire/protobuf/writer.h"

namespace weir::door {
namespace {

using wire::protobuf::append_bytes;
using wire::protobuf::append_message;
using wire::protobuf::append_number;
using wire::protobuf::Reader;
using wire::protobuf::WireType;

// Of ServerReflectionRequest: what is asked is the last of them that is there.
enum class Asked : std::uint8_t {
  nothing = 0,
  file = 3,
  symbol = 4,
  extension = 5,
  extension_numbers = 6,
  services = 7
};

struct Request {
  std::string_view host;
  Asked asked = Asked::nothing;
  std::string_view text;
};

[[nodiscard]] bool read(std::string_view message, Request& request) {
  Reader fields(message);
  while (fields.next()) {
    if (fields.is(1, WireType::bytes)) request.host = fields.text();
    for (const Asked asked : {Asked::file, Asked::symbol, Asked::extension_numbers, Asked::services}) {
      if (fields.is(static_cast<std::uint32_t>(asked), WireType::bytes)) {
        request.asked = asked;
        request.text = fields.text();
      }
    }
    if (fields.is(static_cast<std::uint32_t>(Asked::extension), WireType::bytes)) request.asked = Asked::extension;
  }
  return fields.ok();
}

void append_error(std::string& out, wire::grpc::Status status, std::string_view text) {
  append_message(out, 7, [&] {
    append_number(out, 1, static_cast<std::uint64_t>(status));
    append_bytes(out, 2, text);
  });
}

void append_file(std::string& out, std::string_view file) {
  if (file.empty()) return append_error(out, wire::grpc::Status::not_found, "there is no such file or symbol here");
  append_message(out, 4, [&] { append_bytes(out, 1, file); });
}

void append_services(std::string& out, const ReflectionCatalogue& catalogue) {
  append_message(out, 6, [&] {
    for (const std::string& service : catalogue.services()) {
      append_message(out, 1, [&] { append_bytes(out, 1, service); });
    }
  });
}

void append_extension_numbers(std::string& out, const ReflectionCatalogue& catalogue, std::string_view type) {
  if (!catalogue.declares_message(type)) {
    return append_error(out, wire::grpc::Status::not_found, "there is no such message here");
  }
  append_message(out, 5, [&] { append_bytes(out, 1, type); });  // none has extensions
}

}  // namespace

bool reflect(const ReflectionCatalogue& catalogue, std::string_view request, std::string& out) {
  Request asked;
  if (!read(request, asked)) return false;
  if (!asked.host.empty()) append_bytes(out, 1, asked.host);
  append_bytes(out, 2, request);
  switch (asked.asked) {
    case Asked::file:
      append_file(out, catalogue.file(asked.text));
      break;
    case Asked::symbol:
      append_file(out, catalogue.file_declaring(asked.text));
      break;
    case Asked::extension:
      append_file(out, {});
      break;
    case Asked::extension_numbers:
      append_extension_numbers(out, catalogue, asked.text);
      break;
    case Asked::services:
      append_services(out, catalogue);
      break;
    case Asked::nothing:
      append_error(out, wire::grpc::Status::invalid_argument, "nothing is asked for");
      break;
  }
  return true;
}

}  // namespace weir::door
