// Compares the detection of malformed requests with nghttp2: a session with HTTP messaging rules enabled receives the
// same bytes as the server.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/wire_http2/client.h"
#include "wire/http2/server.h"

namespace weir::wire::http2 {
namespace {

struct Delete {
  void operator()(nghttp2_session* session) const noexcept { nghttp2_session_del(session); }
};
using SessionPointer = std::unique_ptr<nghttp2_session, Delete>;

std::string sent_by(nghttp2_session& session) {
  std::string all;
  const std::uint8_t* part = nullptr;
  for (ssize_t size = 0; (size = nghttp2_session_mem_send(&session, &part)) > 0;) {
    all.append(reinterpret_cast<const char*>(part), static_cast<std::size_t>(size));
  }
  return all;
}

struct Request {
  Fields head;
  std::string body;
  Fields trailers;
};

// Sends anything, valid or not.
class Sender {
 public:
  Sender() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_option* options = nullptr;
    nghttp2_option_new(&options);
    nghttp2_option_set_no_http_messaging(options, 1);
    nghttp2_session* session = nullptr;
    nghttp2_session_client_new2(&session, callbacks, this, options);
    nghttp2_option_del(options);
    nghttp2_session_callbacks_del(callbacks);
    session_.reset(session);
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
  }

  std::string bytes_of(const Request& request) {
    request_ = &request;
    const auto pairs = pairs_of(request.head);
    nghttp2_data_provider body{};
    body.source.ptr = this;
    body.read_callback = read;
    nghttp2_submit_request(session_.get(), nullptr, pairs.data(), pairs.size(), &body, nullptr);
    return sent_by(*session_);
  }

 private:
  static std::vector<nghttp2_nv> pairs_of(const Fields& fields) {
    std::vector<nghttp2_nv> pairs;
    const auto bytes = [](const std::string& text) {
      return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
    };
    for (const auto& [name, value] : fields) {
      pairs.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NO_COPY_NAME});
    }
    return pairs;
  }

  static ssize_t read(nghttp2_session* session, std::int32_t stream, std::uint8_t* room, std::size_t /*size*/,
                      std::uint32_t* flags, nghttp2_data_source* source, void*) {
    const Request& request = *static_cast<Sender*>(source->ptr)->request_;
    request.body.copy(reinterpret_cast<char*>(room), request.body.size());
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!request.trailers.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const auto pairs = pairs_of(request.trailers);
      nghttp2_submit_trailer(session, stream, pairs.data(), pairs.size());
    }
    return static_cast<ssize_t>(request.body.size());
  }

  SessionPointer session_;
  const Request* request_ = nullptr;
};

// The result of a request.
struct Fate {
  std::uint32_t reset = NGHTTP2_NO_ERROR;
  bool whole = false;
};

// The verdict of nghttp2.
class Oracle {
 public:
  Oracle() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks,
                                                         [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
                                                           if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
                                                             static_cast<Oracle*>(user)->fate_.whole = true;
                                                           return 0;
                                                         });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        callbacks, [](nghttp2_session*, std::int32_t, std::uint32_t code, void* user) {
          static_cast<Oracle*>(user)->fate_ = {code, false};
          return 0;
        });
    nghttp2_session* session = nullptr;
    nghttp2_session_server_new(&session, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    session_.reset(session);
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
  }

  Fate hear(std::string_view bytes) {
    fate_ = {};
    RC_ASSERT(nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                       bytes.size()) == static_cast<ssize_t>(bytes.size()));
    static_cast<void>(sent_by(*session_));
    return fate_;
  }

 private:
  SessionPointer session_;
  Fate fate_;
};

// Finds the last RST_STREAM frame in the output.
std::uint32_t reset_in(std::string_view frames) {
  std::uint32_t code = NGHTTP2_NO_ERROR;
  constexpr std::size_t head = 9;
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8U | static_cast<std::uint8_t>(frames[at + i]);
    return value;
  };
  while (!frames.empty()) {
    if (number(3, 1) == NGHTTP2_RST_STREAM) code = number(head, 4);
    frames.remove_prefix(head + number(0, 3));
  }
  return code;
}

Fate heard_by(Server& server, std::string_view bytes) {
  RC_ASSERT(server.receive(bytes));
  Fate fate;
  for (Exchange* exchange : server.updated()) {
    fate.whole = exchange->complete();
    // Responds like nghttp2, so that the results can be compared.
    if (exchange->fault() == Fault::malformed_field) server.reset(*exchange, NGHTTP2_PROTOCOL_ERROR);
  }
  std::string out;
  server.write(out);
  fate.reset = reset_in(out);
  if (fate.reset != NGHTTP2_NO_ERROR) fate.whole = false;
  return fate;
}

using Pair = std::pair<std::string, std::string>;

const std::vector<std::string> names{":method",
                                     ":scheme",
                                     ":authority",
                                     ":path",
                                     ":protocol",
                                     ":status",
                                     "host",
                                     "content-length",
                                     "te",
                                     "upgrade",
                                     "connection",
                                     "x",
                                     "X-Upper",
                                     "bad name",
                                     "",
                                     ":",
                                     "keep-alive",
                                     "cookie",
                                     "proxy-connection",
                                     "te ",
                                     "user-agent",
                                     ":unknown",
                                     "content-type",
                                     "transfer-encoding"};
const std::vector<std::string> values{"POST",
                                      "CONNECT",
                                      "OPTIONS",
                                      "/",
                                      "/a",
                                      "*",
                                      "a",
                                      "http",
                                      "HTTPS",
                                      "ftp",
                                      "1http",
                                      "",
                                      "weir",
                                      "we ir",
                                      "0",
                                      "3",
                                      "5",
                                      "x5",
                                      "-1",
                                      " 3",
                                      "3 ",
                                      "trailers",
                                      "TRAILERS",
                                      "gzip",
                                      "a\nb",
                                      "a\tb",
                                      "caf\xc3\xa9",
                                      std::string("\0", 1),
                                      "99999999999999999999",
                                      "9223372036854775807",
                                      "9223372036854775808"};

Fields some_fields(std::size_t most) {
  const auto pair = rc::gen::pair(rc::gen::elementOf(names), rc::gen::elementOf(values));
  return *rc::gen::resize(static_cast<int>(most), rc::gen::container<Fields>(pair));
}

// A valid request with a few changes.
Fields some_head() {
  Fields head = post("/a");
  if (*rc::gen::inRange(0, 3) == 0) head.emplace_back("content-length", *rc::gen::elementOf(values));
  const int changes = *rc::gen::inRange(0, 3);
  for (int i = 0; i < changes && !head.empty(); ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, head.size());
    const auto place = head.begin() + static_cast<std::ptrdiff_t>(at);
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        head.erase(place);
        break;
      case 1:
        place->second = *rc::gen::elementOf(values);
        break;
      case 2:
        head.insert(place, Pair(*rc::gen::elementOf(names), *rc::gen::elementOf(values)));
        break;
      default:
        std::swap(*place, head.front());
    }
  }
  return head;
}

// Several requests on one connection: cached findings must not affect the next request.
RC_GTEST_PROP(Http2Server, DetectsMalformedRequestsLikeNghttp2, ()) {
  Server server;
  Oracle oracle;
  Sender sender;
  const int count = *rc::gen::inRange(1, 12);
  int malformed = 0;
  for (int i = 0; i < count; ++i) {
    Request request{some_head(), *rc::gen::elementOf(std::vector<std::string>{"", "abc", "abcde"}), {}};
    if (*rc::gen::inRange(0, 3) == 0) request.trailers = some_fields(3);
    const std::string bytes = sender.bytes_of(request);
    const Fate expected = oracle.hear(bytes);
    const Fate fate = heard_by(server, bytes);
    RC_ASSERT(std::pair(fate.reset, fate.whole) == std::pair(expected.reset, expected.whole));
    malformed += expected.reset == NGHTTP2_PROTOCOL_ERROR ? 1 : 0;
  }
  RC_CLASSIFY(malformed > 0);
  RC_CLASSIFY(malformed < count);
}

}  // namespace
}  // namespace weir::wire::http2
