// A minimal gRPC client for one unary method. The first request of a connection puts its header fields into the
// server's HPACK table; later ones need six bytes. Only the message of a response is read: a call that fails has none.
#include <algorithm>
#include <array>
#include <utility>

#include "load/protocol.h"

namespace bench::load {
namespace {

enum FrameKind : std::uint8_t { data = 0, headers = 1, reset = 3, settings = 4, ping = 6, goaway = 7, window = 8 };
constexpr std::uint8_t end_stream = 1;
constexpr std::uint8_t acknowledged = 1;
constexpr std::uint8_t end_headers = 4;
constexpr std::size_t frame_head = 9;
constexpr std::size_t message_head = 5;
constexpr std::uint32_t first_window = 65'535;  // of a connection (RFC 9113)
constexpr std::uint32_t largest_window = 0x7fffffff;

// Indexed fields: POST, http, and the four of the first request.
constexpr std::string_view known_fields = "\x83\x86\xc1\xc0\xbf\xbe";

void put_number(char* to, std::uint32_t number) noexcept {
  for (unsigned i = 0; i < 4; ++i) to[i] = static_cast<char>(number >> (8 * (3 - i)));
}

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size = 4) noexcept {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number = number << 8U | static_cast<std::uint8_t>(bytes[at + i]);
  return number;
}

std::string frame(FrameKind kind, std::uint8_t flags, std::uint32_t stream, std::string_view payload) {
  std::string bytes(frame_head, '\0');
  put_number(bytes.data(), static_cast<std::uint32_t>(payload.size()) << 8U);
  bytes[3] = static_cast<char>(kind);
  bytes[4] = static_cast<char>(flags);
  put_number(bytes.data() + 5, stream);
  return bytes.append(payload);
}

std::string wide_window(std::uint32_t by) {
  std::string payload(4, '\0');
  put_number(payload.data(), by);
  return frame(window, 0, 0, payload);
}

// A field for the server's table: by the index of its name, or by its name.
std::string kept_field(std::string_view name, std::string_view value) {
  if (value.size() > 126) throw std::invalid_argument("the path is too long");
  return std::string(name) + static_cast<char>(value.size()) + std::string(value);
}

std::string first_fields(const std::string& path) {
  return "\x83\x86" + kept_field("\x44", path) + kept_field("\x41", "127.0.0.1") +
         kept_field("\x5f", "application/grpc") + kept_field("\x40\x02te", "trailers");
}

std::string request_of(std::string_view fields, std::string_view message) {
  std::string body(message_head, '\0');
  put_number(body.data() + 1, static_cast<std::uint32_t>(message.size()));
  body += message;
  return frame(headers, end_headers, 1, fields) + frame(data, end_stream, 1, body);
}

// Detects denials by the first bytes of the message.
bool denies_rls(std::string_view message) {
  if (message.size() < 2 || message[0] != 0x08) throw WrongAnswer("a message without overall_code");
  return message[1] == 2;
}
bool denies_gubernator(std::string_view message) {
  const bool is_response = message.size() > 4 && message[0] == 0x0a;
  if (is_response && message[2] == 0x08 && message[3] == 1) return true;
  if (!is_response || message[2] != 0x10) throw WrongAnswer("no response with a limit: " + std::string(message));
  return false;
}
bool denies_throttlecrab(std::string_view message) {
  return message.size() < 2 || message[0] != 0x08 || message[1] != 1;
}
using Denies = bool (*)(std::string_view message);

Denies denies_as(std::string_view evaluate) {
  if (evaluate == "rls") return denies_rls;
  if (evaluate == "gubernator") return denies_gubernator;
  if (evaluate == "throttlecrab") return denies_throttlecrab;
  throw std::invalid_argument("no such evaluate: " + std::string(evaluate));
}

class Grpc final : public Protocol {
 public:
  Grpc(std::shared_ptr<Requests> first, std::shared_ptr<Requests> others, std::size_t message_size, Denies denies)
      : first_(std::move(first)),
        others_(std::move(others)),
        data_size_(message_size + message_head),
        denies_(denies) {}

  std::string opening(Numbers& keys) override {
    // ENABLE_PUSH 0; INITIAL_WINDOW_SIZE 1 MiB, so that windows do not delay responses.
    constexpr std::string_view wanted("\0\x02\0\0\0\0\0\x04\0\x10\0\0", 12);
    std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(settings, 0, 0, wanted);
    bytes += wide_window(largest_window - first_window);
    bytes += first_->with_keys(1, keys);
    room_ -= static_cast<std::int64_t>(data_size_);
    stream_ = 3;
    return bytes;
  }

  std::string_view next(std::size_t count, Numbers& keys) override {
    const std::size_t second = frame_head + known_fields.size();
    for (std::size_t i = 0; i < count; ++i, stream_ += 2) {
      char* const request = others_->copy(i);
      put_number(request + 5, stream_);
      put_number(request + second + 5, stream_);
    }
    room_ -= static_cast<std::int64_t>(count * data_size_);
    return others_->with_keys(count, keys);
  }

  std::size_t may_send(std::size_t wanted, std::size_t in_flight) const override {
    const std::size_t streams = max_streams_ - std::min<std::size_t>(in_flight, max_streams_);
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(room_, 0)) / data_size_;
    return std::min({wanted, streams, room});
  }
  bool out_of_order() const override { return true; }

  std::size_t read(std::string_view bytes, AnswerSink& sink, std::string& out) override {
    std::size_t at = 0;
    while (bytes.size() - at >= frame_head) {
      const std::size_t size = number_at(bytes, at, 3);
      if (bytes.size() - at < frame_head + size) break;
      take(bytes.substr(at, frame_head + size), sink, out);
      at += frame_head + size;
    }
    return at;
  }

 private:
  enum class Outcome : std::uint8_t { nothing, admitted, denied };

  void take(std::string_view frame, AnswerSink& sink, std::string& out) {
    const std::uint32_t stream = number_at(frame, 5) & largest_window;
    const auto flags = static_cast<std::uint8_t>(frame[4]);
    const std::string_view payload = frame.substr(frame_head);
    switch (frame[3]) {
      case data:
        take_message(stream, payload, out);
        break;
      case headers:
        if ((flags & end_stream) != 0) end(stream, sink);
        break;
      case settings:
        if ((flags & acknowledged) == 0) take_settings(payload, out);
        break;
      case ping:
        if ((flags & acknowledged) == 0) out += load::frame(ping, acknowledged, 0, payload);
        break;
      case window:
        if (stream == 0) room_ += number_at(payload, 0);
        break;
      case reset:
        // NO_ERROR after a complete response: the server does not need the rest of the request.
        if (number_at(payload, 0) != 0) throw WrongAnswer("the server gave up a call");
        break;
      case goaway:
        throw WrongAnswer("the server closes the connection: " +
                          std::string(payload.substr(std::min<std::size_t>(8, payload.size()))));
      default:
        break;
    }
  }

  // A message may span several frames; its first bytes are in the first.
  void take_message(std::uint32_t stream, std::string_view payload, std::string& out) {
    received_ += static_cast<std::uint32_t>(payload.size());
    if (received_ > largest_window / 2) {
      out += wide_window(received_);
      received_ = 0;
    }
    Outcome& outcome = outcomes_[stream / 2 % max_in_flight_requests];
    if (outcome != Outcome::nothing || payload.size() <= message_head) return;
    outcome = denies_(payload.substr(message_head)) ? Outcome::denied : Outcome::admitted;
  }

  void end(std::uint32_t stream, AnswerSink& sink) {
    const Outcome outcome = std::exchange(outcomes_[stream / 2 % max_in_flight_requests], Outcome::nothing);
    if (outcome == Outcome::nothing) throw WrongAnswer("a call failed: it was answered without a message");
    sink.answered(stream / 2, outcome == Outcome::admitted);
  }

  void take_settings(std::string_view payload, std::string& out) {
    for (std::size_t at = 0; at + 6 <= payload.size(); at += 6) {
      const std::uint32_t value = number_at(payload, at + 2);
      switch (number_at(payload, at, 2)) {
        case 1:  // HEADER_TABLE_SIZE
          if (value < 4096) throw WrongAnswer("the server keeps too few header fields for this client");
          break;
        case 3:
          max_streams_ = value;
          break;
        case 4:  // INITIAL_WINDOW_SIZE
          if (value < data_size_) throw WrongAnswer("the server takes no whole message at once");
          break;
        default:
          break;
      }
    }
    out += frame(settings, acknowledged, 0, {});
  }

  std::shared_ptr<Requests> first_;
  std::shared_ptr<Requests> others_;
  std::size_t data_size_;
  Denies denies_;
  std::uint32_t stream_ = 1;
  std::int64_t room_ = first_window;  // the server's window for messages
  std::uint32_t max_streams_ = largest_window;
  std::uint32_t received_ = 0;  // since the last WINDOW_UPDATE
  std::array<Outcome, max_in_flight_requests> outcomes_{};
};

}  // namespace

MakeProtocol grpc_protocol(const Question& question, std::size_t pipeline) {
  const Denies denies = denies_as(question.evaluate);
  const auto first = std::make_shared<Requests>(request_of(first_fields(question.path), question.body), 1);
  const auto others = std::make_shared<Requests>(request_of(known_fields, question.body), pipeline);
  return [=, size = question.body.size()] { return std::make_unique<Grpc>(first, others, size, denies); };
}

}  // namespace bench::load
