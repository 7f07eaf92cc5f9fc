// The HTTP door: POST /v1/check for programs, /v1/auth for proxies, POST /json for those who ask as Envoy does.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "door/access.h"
#include "door/descriptor_ruling.h"
#include "door/desk.h"
#include "door/health.h"
#include "door/http/check_reader.h"
#include "door/http/descriptors_json.h"
#include "door/http/original_request.h"
#include "door/http_session.h"
#include "door/inquiry.h"
#include "door/pool.h"
#include "door/question_arena.h"
#include "engine/query.h"
#include "net/session.h"
#include "table/together.h"
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
      : desk_(desk),
        health_(health),
        options_(std::move(options)),
        descriptors_(desk),
        at_once_(desk, at_once_memory) {}

  [[nodiscard]] std::unique_ptr<net::Session> open(const net::Peer& peer, const net::Link& link);

  void change(HttpOptions options) { options_ = std::move(options); }

  // Since the start; from any thread.
  [[nodiscard]] std::uint64_t requests() const noexcept { return room_.received.value(); }
  [[nodiscard]] const UnjudgedCounts& unjudged() const noexcept { return room_.unjudged; }

 private:
  class Session;

  // What to do about a request of a batch.
  struct Task {
    enum class Kind : std::uint8_t { auth, check, checks, descriptors, say, say_plainly };

    Kind kind = Kind::say;
    std::size_t first = 0;  // of the batch's queries; of its descriptors
    std::size_t count = 0;
    unsigned status = 200;     // of what is said
    std::string_view allow{};  // of 405
    std::string detail{};
  };

  // What the requests of one read ask, from their reading to their answers.
  struct Batch {
    Batch(Desk& desk, std::size_t memory) : arena(memory), inquiry(desk) {}

    void clear() noexcept;

    std::vector<Task> tasks;  // one for each request
    std::vector<engine::Query> queries;
    std::vector<DescriptorQuestion> descriptors;
    std::size_t may_hold = 0;  // queries whose answers may be held
    QuestionArena arena;

    // Where verdicts come later.
    KeptRequests kept;
    Inquiry inquiry;
  };
  static constexpr std::size_t at_once_memory = std::size_t{16} << 10;
  static constexpr std::size_t waiting_memory = std::size_t{1} << 10;

  Desk& desk_;
  const Health& health_;
  HttpOptions options_;
  HttpRoom room_;
  CheckReader reader_;
  DescriptorsJson descriptors_;
  DescriptorsJson::Fields descriptor_fields_;
  std::array<engine::DescriptorStatus, table::most_together> statuses_;
  std::string body_;
  Batch at_once_;             // what all sessions use whose verdicts do not wait
  Pool<Batch> waiting_;       // one for each session whose verdicts do
  std::size_t may_hold_ = 0;  // of all batches that wait
};

}  // namespace weir::door
