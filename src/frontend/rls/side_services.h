// The services beside the rate limit service: health, and what tools ask of a server's protos.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/frontend.h"
#include "frontend/rls/call.h"
#include "wire/http2/server.h"

namespace weir::frontend {

// grpc.health.v1.Health: whether this server takes requests. It knows itself as `` and as `ratelimit`.
class HealthService {
 public:
  HealthService(wire::http2::Server& server, const Health& health) noexcept
      : server_(server), health_(health), told_(health.serving()) {}

  void check(Exchange& exchange, std::string_view message);
  // Answers now, and again whenever it changes; notes `watched` at the exchange.
  void watch(Exchange& exchange, std::string_view message, std::uint32_t watched);

  // Tells the exchanges that watch if there is news. True if there was.
  bool tell(std::uint32_t watched);

 private:
  void say_status(Exchange& exchange, std::uint64_t status);

  wire::http2::Server& server_;
  const Health& health_;
  bool told_;
};

// The protos that are spoken here, as protoc describes them: a serialized FileDescriptorSet. Written at build.
[[nodiscard]] std::string_view descriptor_set() noexcept;

// What server reflection can tell: the files of a FileDescriptorSet, found by name and by the symbols in them.
class ReflectionCatalogue {
 public:
  // Views into the set, which stays.
  explicit ReflectionCatalogue(std::string_view descriptor_set);

  // That of descriptor_set().
  [[nodiscard]] static const ReflectionCatalogue& own();

  // A serialized FileDescriptorProto; empty if there is none.
  [[nodiscard]] std::string_view file(std::string_view name) const noexcept;
  // That declares a service, a method, a message or an enumeration, by its full name.
  [[nodiscard]] std::string_view file_declaring(std::string_view symbol) const noexcept;
  [[nodiscard]] bool declares_message(std::string_view name) const noexcept;

  // By their full names.
  [[nodiscard]] std::span<const std::string> services() const noexcept { return services_; }

 private:
  struct File {
    std::string_view name;
    std::string_view bytes;
    std::vector<std::string> symbols;
    std::vector<std::string> messages;
  };

  void add_file(std::string_view bytes);
  void add_message(File& file, const std::string& scope, std::string_view bytes);
  void add_service(File& file, const std::string& scope, std::string_view bytes);

  std::vector<File> files_;
  std::vector<std::string> services_;
};

// grpc.reflection.v1 and v1alpha, which are the same but for their name. Appends the ServerReflectionResponse to a
// ServerReflectionRequest. False if it is none.
[[nodiscard]] bool reflect(const ReflectionCatalogue& catalogue, std::string_view request, std::string& out);

}  // namespace weir::frontend
