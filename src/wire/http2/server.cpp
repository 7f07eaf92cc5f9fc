#include "wire/http2/server.h"

#include <algorithm>
#include <array>
#include <new>

#include "wire/http2/server_events.h"

namespace weir::wire::http2 {
namespace {

constexpr std::size_t most_fields = 8;
constexpr std::uint8_t copied = NGHTTP2_NV_FLAG_NONE;
constexpr std::uint8_t viewed = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
// What comes is taken at once, so windows bound nothing here; and no message should wait for a WINDOW_UPDATE, because
// its caller may not wait for long.
constexpr std::int32_t connection_window = std::int32_t{16} << 20;
constexpr std::uint32_t stream_window = std::uint32_t{1} << 20;

// nghttp2 takes what it only reads as pointers to bytes that could be written.
nghttp2_nv pair_of(const Header& field, std::uint8_t flags) noexcept {
  const auto bytes = [](std::string_view text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
  };
  return {bytes(field.name), bytes(field.value), field.name.size(), field.value.size(), flags};
}

struct Pairs {
  Pairs(std::span<const Header> fields, std::uint8_t flags) noexcept : count(std::min(fields.size(), most_fields)) {
    for (std::size_t i = 0; i < count; ++i) all[i] = pair_of(fields[i], flags);
  }
  std::array<nghttp2_nv, most_fields> all;
  std::size_t count;
};

void check(int code) {
  if (nghttp2_is_fatal(code) != 0) throw std::bad_alloc();
}

class Options {
 public:
  explicit Options(const Limits& limits) {
    check(nghttp2_option_new(&options_));
    nghttp2_option_set_no_closed_streams(options_, 1);
    nghttp2_option_set_no_http_messaging(options_, 1);  // we look ourselves: RequestShape
    nghttp2_option_set_max_outbound_ack(options_, limits.acknowledgements);
    nghttp2_option_set_max_settings(options_, limits.settings);
    nghttp2_option_set_stream_reset_rate_limit(options_, limits.resets, limits.resets_per_second);
  }
  ~Options() { nghttp2_option_del(options_); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  [[nodiscard]] const nghttp2_option* get() const noexcept { return options_; }

 private:
  nghttp2_option* options_ = nullptr;
};

}  // namespace

Server::Server(const Limits& limits) : limits_(limits) {
  const Options options(limits);
  nghttp2_mem memory = pool_.interface();
  nghttp2_session* session = nullptr;
  check(nghttp2_session_server_new3(&session, ServerEvents::table(), this, options.get(), &memory));
  session_.reset(session);
  // How large a head may be is not told: a client that knew would fail its call by itself.
  const std::array settings{nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams},
                            nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window},
                            nghttp2_settings_entry{NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}};
  check(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size()));
  check(nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, connection_window));
}

Server::~Server() = default;

bool Server::receive(std::span<const char> bytes) {
  calm();
  const ssize_t done =
      nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (done >= 0) return true;
  nghttp2_session_terminate_session(session_.get(),
                                    done == NGHTTP2_ERR_FLOODED ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
  return false;
}

void Server::refuse(Exchange& exchange, std::span<const Header> head) {
  if (exchange.answered_ || exchange.gone_) return;
  exchange.answered_ = exchange.ended_ = true;
  const Pairs pairs(head, copied);
  check(nghttp2_submit_response(session_.get(), exchange.stream_, pairs.all.data(), pairs.count, nullptr));
}

void Server::begin(Exchange& exchange, std::span<const Header> head) {
  if (exchange.answered_ || exchange.gone_) return;
  exchange.answered_ = true;
  const Pairs pairs(head, viewed);
  nghttp2_data_provider body{};
  body.source.ptr = &exchange;
  body.read_callback = ServerEvents::read_reply;
  check(nghttp2_submit_response(session_.get(), exchange.stream_, pairs.all.data(), pairs.count, &body));
}

void Server::count_reply(Exchange& exchange) noexcept {
  unsent_ += exchange.reply_.size() - exchange.counted_;
  exchange.counted_ = exchange.reply_.size();
}

void Server::send(Exchange& exchange) {
  if (exchange.gone_) return;
  count_reply(exchange);
  if (exchange.waiting_) check(nghttp2_session_resume_data(session_.get(), exchange.stream_));
  exchange.waiting_ = false;
}

void Server::end(Exchange& exchange, std::span<const Header> trailers) {
  if (exchange.gone_ || exchange.ended_) return;
  exchange.ended_ = true;
  exchange.trailer_count_ = std::min(trailers.size(), Exchange::most_trailers);
  for (std::size_t i = 0; i < exchange.trailer_count_; ++i) {
    exchange.trailers_[i].name = trailers[i].name;
    exchange.trailers_[i].value = trailers[i].value;
  }
  send(exchange);
}

void Server::submit_trailers(Exchange& exchange) noexcept {
  std::array<nghttp2_nv, Exchange::most_trailers> pairs{};
  for (std::size_t i = 0; i < exchange.trailer_count_; ++i) {
    pairs[i] = pair_of({exchange.trailers_[i].name, exchange.trailers_[i].value}, viewed);
  }
  nghttp2_submit_trailer(session_.get(), exchange.stream_, pairs.data(), exchange.trailer_count_);
}

void Server::reset(Exchange& exchange, std::uint32_t code) {
  if (exchange.gone_) return;
  if (!exchange.ended_) ++given_up_;
  exchange.answered_ = exchange.ended_ = true;
  check(nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, exchange.stream_, code));
}

void Server::write(std::string& out) {
  write_answers(out);
  for (Exchange* exchange : left_) {
    if (!exchange->kept_) give_back(*exchange);
  }
  left_.clear();
  calm();
}

void Server::write_answers(std::string& out) {
  const std::uint8_t* bytes = nullptr;
  for (;;) {
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
    if (size < 0) throw std::bad_alloc();
    if (size == 0) break;
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }
}

void Server::expire(std::chrono::steady_clock::time_point now, Duration patience) {
  for (Exchange* exchange : open_) {
    if (exchange->complete_ || exchange->answered_) continue;
    if (!exchange->seen_unfinished_) exchange->seen_unfinished_ = now;
    if (now - *exchange->seen_unfinished_ >= patience) reset(*exchange, NGHTTP2_CANCEL);
  }
}

void Server::announce_end() {
  check(nghttp2_submit_shutdown_notice(session_.get()));
}

void Server::refuse_more() {
  const std::int32_t last = nghttp2_session_get_last_proc_stream_id(session_.get());
  check(nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr, 0));
}

bool Server::over() const noexcept {
  return nghttp2_session_want_read(session_.get()) == 0 && nghttp2_session_want_write(session_.get()) == 0;
}

Exchange* Server::look_up(std::int32_t stream) noexcept {
  auto* const found = static_cast<Exchange*>(nghttp2_session_get_stream_user_data(session_.get(), stream));
  if (found != nullptr) last_ = found;
  return found;
}

Exchange& Server::open_exchange(std::int32_t stream) {
  if (free_.empty()) {
    free_.reserve(exchanges_.size() + 1);  // giving back never fails
    left_.reserve(exchanges_.size() + 1);
    stirred_.reserve(exchanges_.size() + 1);
    exchanges_.push_back(std::make_unique<Exchange>());
    free_.push_back(exchanges_.back().get());
  }
  Exchange& exchange = *free_.back();
  open_.push_back(&exchange);
  free_.pop_back();
  exchange.begin(stream);
  exchange.slot_ = open_.size() - 1;
  last_ = &exchange;
  return exchange;
}

void Server::close_exchange(Exchange& exchange) noexcept {
  held_ -= counted(exchange);
  unsent_ -= exchange.counted_ - exchange.sent_;
  open_[exchange.slot_] = open_.back();
  open_[exchange.slot_]->slot_ = exchange.slot_;
  open_.pop_back();
  if (last_ == &exchange) last_ = nullptr;
  exchange.gone_ = true;
  if (exchange.stirred_) {
    left_.push_back(&exchange);  // somebody may be looking at it
  } else if (!exchange.kept_) {
    give_back(exchange);
  }
}

void Server::release(Exchange& exchange) noexcept {
  exchange.kept_ = false;
  if (exchange.gone_ && !exchange.stirred_) give_back(exchange);
}

void Server::give_back(Exchange& exchange) noexcept {
  exchange.forget();
  free_.push_back(&exchange);
}

void Server::stir(Exchange& exchange) noexcept {
  if (exchange.stirred_) return;
  exchange.stirred_ = true;
  stirred_.push_back(&exchange);
}

void Server::calm() noexcept {
  for (Exchange* exchange : stirred_) exchange->stirred_ = false;
  stirred_.clear();
}

void Server::keep_field(Exchange& exchange, Field field, std::string_view value) {
  held_ -= counted(exchange);
  if (has_room(exchange.held() + value.size())) {
    exchange.keep(field, value);
  } else {
    exchange.set_fault(Fault::head_too_large);
  }
  held_ += counted(exchange);
}

void Server::append_body(Exchange& exchange, std::string_view chunk) {
  if (exchange.answered_ && exchange.ended_) return;
  held_ -= counted(exchange);
  exchange.body_.erase(0, exchange.taken_);
  exchange.taken_ = 0;
  const bool fits =
      exchange.body_.size() + chunk.size() <= limits_.body_bytes && has_room(exchange.held() + chunk.size());
  if (!fits) exchange.set_fault(Fault::body_too_large);
  if (exchange.fault_ == Fault::none) {
    exchange.body_.append(chunk);
  } else {
    std::string().swap(exchange.body_);  // nobody will read it
  }
  held_ += counted(exchange);
}

}  // namespace weir::wire::http2
