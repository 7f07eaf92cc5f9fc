// The HTTP door: POST /v1/check for programs, /v1/auth for proxies, POST /json for those who ask as Envoy does.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "door/access.h"
#include "door/desk.h"
#include "door/health.h"
#include "door/http/check_reader.h"
#include "door/http/descriptors_json.h"
#include "door/http/original_request.h"
#include "door/http_session.h"
#include "engine/query.h"
#include "net/session.h"
#include "weir/time.h"
#include "wire/http1/request.h"

namespace weir::door {

struct HttpOptions {
  wire::http1::Limits limits;
  HostNames hosts;
  Token token;  // set: asked for, as X-Weir-Token, of whoever wants a decision
  AuthHeaders auth_headers = AuthHeaders::agreeing;
  Duration hold_max = std::chrono::seconds(5);  // how long an answer of /v1/auth waits for its turn in a queue
  std::size_t hold_limit = 1'000;               // how many may wait, of one loop
};

// What its sessions on one loop share; they are gone before it.
class HttpDoor {
 public:
  HttpDoor(Desk& desk, const Health& health, HttpOptions options)
      : desk_(desk), health_(health), options_(std::move(options)), descriptors_(desk) {}

  [[nodiscard]] std::unique_ptr<net::Session> open(const net::Peer& peer, const net::Link& link);

  void change(HttpOptions options) { options_ = std::move(options); }

  // Since the start; from any thread.
  [[nodiscard]] std::uint64_t requests() const noexcept { return room_.received.value(); }

 private:
  class Session;

  // What to do about a request of a batch.
  struct Task {
    enum class Kind : std::uint8_t { auth, check, checks, descriptors, say };

    Kind kind = Kind::say;
    std::size_t first = 0;  // of queries_
    std::size_t count = 0;
    unsigned status = 200;     // of what is said
    std::string_view allow{};  // of 405
    std::string detail{};
  };

  Desk& desk_;
  const Health& health_;
  HttpOptions options_;
  HttpRoom room_;
  CheckReader reader_;
  DescriptorsJson descriptors_;
  DescriptorsJson::Fields descriptor_fields_;
  std::vector<engine::Query> queries_;
  std::vector<Task> tasks_;
  std::string body_;
};

}  // namespace weir::door
