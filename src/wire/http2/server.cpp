#include "wire/http2/server.h"

#include <array>
#include <new>

namespace weir::wire::http2 {
namespace {

constexpr std::size_t max_fields = 8;
constexpr std::uint8_t copied = NGHTTP2_NV_FLAG_NONE;
constexpr std::uint8_t viewed = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
// Input is consumed immediately, so flow-control windows limit nothing here. They are large so that no message waits
// for a WINDOW_UPDATE.
constexpr std::int32_t connection_window = std::int32_t{16} << 20;
constexpr std::uint32_t stream_window = std::uint32_t{1} << 20;

// nghttp2 takes pointers to non-const bytes but only reads them.
nghttp2_nv pair_of(const Header& field, std::uint8_t flags) noexcept {
  const auto bytes = [](std::string_view text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
  };
  return {bytes(field.name), bytes(field.value), field.name.size(), field.value.size(), flags};
}

struct Pairs {
  Pairs(std::span<const Header> fields, std::uint8_t flags) noexcept : count(std::min(fields.size(), max_fields)) {
    for (std::size_t i = 0; i < count; ++i) all[i] = pair_of(fields[i], flags);
  }
  std::array<nghttp2_nv, max_fields> all;
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
    nghttp2_option_set_no_http_messaging(options_, 1);  // RequestShape validates messages instead
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

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(bytes), size};
}

Server& server_of(void* user) noexcept {
  return *static_cast<Server*>(user);
}

template <class Work>
int guarded(const Work& work) noexcept {
  try {
    work();
    return 0;
  } catch (...) {
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
}

bool is_request(const nghttp2_frame* frame) noexcept {
  return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

constexpr std::size_t max_reused_capacity = 4096;

void empty(std::string& text) noexcept {
  if (text.capacity() > max_reused_capacity) std::string().swap(text);  // assignment would not free the memory
  text.clear();
}

}  // namespace

// The callbacks of nghttp2. They do not throw: a failure fails the connection.
struct Server::Events {
  static const nghttp2_session_callbacks* table() {
    struct Delete {
      void operator()(nghttp2_session_callbacks* callbacks) const noexcept { nghttp2_session_callbacks_del(callbacks); }
    };
    static const auto made = [] {
      nghttp2_session_callbacks* callbacks = nullptr;
      if (nghttp2_session_callbacks_new(&callbacks) != 0) throw std::bad_alloc();
      nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
      nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
      nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
      nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
      nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
      return std::unique_ptr<nghttp2_session_callbacks, Delete>(callbacks);
    }();
    return made.get();
  }

  static ssize_t read_reply(nghttp2_session* /*session*/, std::int32_t /*stream*/, std::uint8_t* room, std::size_t size,
                            std::uint32_t* flags, nghttp2_data_source* source, void* user) noexcept {
    Server& server = server_of(user);
    auto& exchange = *static_cast<Exchange*>(source->ptr);
    server.last_ = &exchange;
    server.count_reply(exchange);
    const std::size_t count = std::min(size, exchange.reply_.size() - exchange.sent_);
    exchange.waiting_ = count == 0 && !exchange.ended_;
    if (exchange.waiting_) return NGHTTP2_ERR_DEFERRED;
    exchange.reply_.copy(reinterpret_cast<char*>(room), count, exchange.sent_);
    exchange.sent_ += count;
    server.unsent_ -= count;
    if (exchange.sent_ < exchange.reply_.size()) return static_cast<ssize_t>(count);
    exchange.reply_.clear();
    exchange.counted_ = exchange.sent_ = 0;
    if (!exchange.ended_) return static_cast<ssize_t>(count);
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    server.submit_trailers(exchange);
    return static_cast<ssize_t>(count);
  }

  static int on_begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept {
    server_of(user).memory_.begin();
    if (!is_request(frame)) return 0;
    return guarded([&] {
      Exchange& exchange = server_of(user).open_exchange(frame->hd.stream_id);
      nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, &exchange);
    });
  }

  static int on_header(nghttp2_session* /*session*/, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t /*flags*/,
                       void* user) noexcept {
    Server& server = server_of(user);
    Exchange* const exchange = server.find(frame->hd.stream_id);
    if (exchange == nullptr) return 0;
    const FieldFinding found = server.memory_.find_or_examine(text_of(name, name_size), text_of(value, value_size));
    const bool in_trailers = exchange->has_head_;
    if (!exchange->shape_.add(found) || (found.malformed_value && in_trailers)) {
      return refuse(server, *exchange, NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE);
    }
    if (in_trailers) return 0;  // trailers are not stored
    if (found.malformed_value) exchange->set_fault(Fault::malformed_field);
    exchange->head_bytes_ += name_size + value_size;
    if (exchange->head_bytes_ > server.limits_.head_bytes) exchange->set_fault(Fault::head_too_large);
    if (!found.field || exchange->fault_ != Fault::none) return 0;
    return guarded([&] { server.store_field(*exchange, *found.field, text_of(value, value_size)); });
  }

  static int on_data(nghttp2_session* /*session*/, std::uint8_t /*flags*/, std::int32_t stream,
                     const std::uint8_t* data, std::size_t size, void* user) noexcept {
    Exchange* const exchange = server_of(user).find(stream);
    if (exchange == nullptr) return 0;
    if (!exchange->shape_.add_body(size)) return refuse(server_of(user), *exchange, 0);
    return guarded([&] { server_of(user).append_body(*exchange, text_of(data, size)); });
  }

  static int on_frame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user) noexcept {
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    Exchange* const exchange = server_of(user).find(frame->hd.stream_id);
    if (exchange == nullptr) return 0;
    const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (!is_well_formed(*exchange, frame->hd.type == NGHTTP2_HEADERS, ends))
      return refuse(server_of(user), *exchange, 0);
    exchange->has_head_ = true;
    exchange->complete_ = exchange->complete_ || ends;
    server_of(user).mark_updated(*exchange);
    return 0;
  }

  // Resets a stream whose response is complete before its request is.
  static int on_sent(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept {
    if (frame->hd.type != NGHTTP2_HEADERS || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    const Exchange* const exchange = server_of(user).find(frame->hd.stream_id);
    if (exchange == nullptr || exchange->complete_) return 0;
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
  }

  static int on_close(nghttp2_session* /*session*/, std::int32_t stream, std::uint32_t /*code*/, void* user) noexcept {
    Exchange* const exchange = server_of(user).find(stream);
    if (exchange == nullptr) return 0;
    server_of(user).close_exchange(*exchange);
    return 0;
  }

  // Returns false if this frame makes the request malformed.
  static bool is_well_formed(Exchange& exchange, bool fields, bool ends) noexcept {
    if (fields && !exchange.has_head_ && !exchange.shape_.end_head()) return false;
    if (fields && exchange.has_head_ && !ends) return false;  // trailers must end the request
    return !ends || exchange.shape_.end_body();
  }

  // Resets the stream of a malformed request. Returns `code`, or an error if out of memory.
  static int refuse(Server& server, Exchange& exchange, int code) noexcept {
    const int failed = guarded([&] { server.reset(exchange, NGHTTP2_PROTOCOL_ERROR); });
    return failed != 0 ? failed : code;
  }
};

void Exchange::begin(std::int32_t stream) noexcept {
  stream_ = stream;
  has_head_ = complete_ = updated_ = answered_ = ended_ = waiting_ = closed_ = false;
  fault_ = Fault::none;
  note_ = 0;
  head_bytes_ = taken_ = counted_ = sent_ = trailer_count_ = 0;
  ranges_ = {};
  shape_ = {};
  seen_unfinished_.reset();
}

void Exchange::store(Field field, std::string_view value) {
  Range& range = ranges_[static_cast<std::size_t>(field)];
  if (range.size > 0) return;
  range = {static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(value.size())};
  text_.append(value);
}

void Exchange::forget() noexcept {
  empty(text_);
  empty(body_);
  empty(reply_);
}

Server::Server(const Limits& limits) : limits_(limits) {
  const Options options(limits);
  nghttp2_mem memory = pool_.interface();
  nghttp2_session* session = nullptr;
  check(nghttp2_session_server_new3(&session, Events::table(), this, options.get(), &memory));
  session_.reset(session);
  // The limit on header size is not announced, because a client that knew it would fail the call itself.
  const std::array settings{nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams},
                            nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window},
                            nghttp2_settings_entry{NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}};
  check(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size()));
  check(nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, connection_window));
}

Server::~Server() = default;

bool Server::receive(std::span<const char> bytes) {
  clear_updated();
  const ssize_t done =
      nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (done >= 0) return true;
  nghttp2_session_terminate_session(session_.get(),
                                    done == NGHTTP2_ERR_FLOODED ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
  return false;
}

void Server::refuse(Exchange& exchange, std::span<const Header> head) {
  if (exchange.answered_ || exchange.closed_) return;
  exchange.answered_ = exchange.ended_ = true;
  const Pairs pairs(head, copied);
  check(nghttp2_submit_response(session_.get(), exchange.stream_, pairs.all.data(), pairs.count, nullptr));
}

void Server::begin(Exchange& exchange, std::span<const Header> head) {
  if (exchange.answered_ || exchange.closed_) return;
  exchange.answered_ = true;
  const Pairs pairs(head, viewed);
  nghttp2_data_provider body{};
  body.source.ptr = &exchange;
  body.read_callback = Events::read_reply;
  check(nghttp2_submit_response(session_.get(), exchange.stream_, pairs.all.data(), pairs.count, &body));
}

void Server::count_reply(Exchange& exchange) noexcept {
  unsent_ += exchange.reply_.size() - exchange.counted_;
  exchange.counted_ = exchange.reply_.size();
}

void Server::send(Exchange& exchange) {
  if (exchange.closed_) return;
  count_reply(exchange);
  if (exchange.waiting_) check(nghttp2_session_resume_data(session_.get(), exchange.stream_));
  exchange.waiting_ = false;
}

void Server::end(Exchange& exchange, std::span<const Header> trailers) {
  if (exchange.closed_ || exchange.ended_) return;
  exchange.ended_ = true;
  exchange.trailer_count_ = std::min(trailers.size(), Exchange::max_trailers);
  for (std::size_t i = 0; i < exchange.trailer_count_; ++i) {
    exchange.trailers_[i].name = trailers[i].name;
    exchange.trailers_[i].value = trailers[i].value;
  }
  send(exchange);
}

void Server::submit_trailers(Exchange& exchange) noexcept {
  std::array<nghttp2_nv, Exchange::max_trailers> pairs{};
  for (std::size_t i = 0; i < exchange.trailer_count_; ++i) {
    pairs[i] = pair_of({exchange.trailers_[i].name, exchange.trailers_[i].value}, viewed);
  }
  nghttp2_submit_trailer(session_.get(), exchange.stream_, pairs.data(), exchange.trailer_count_);
}

void Server::reset(Exchange& exchange, std::uint32_t code) {
  if (exchange.closed_) return;
  if (!exchange.ended_) ++aborted_;
  exchange.answered_ = exchange.ended_ = true;
  check(nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, exchange.stream_, code));
}

void Server::write(std::string& out) {
  write_answers(out);
  for (Exchange* exchange : left_) {
    if (!exchange->retained_) give_back(*exchange);
  }
  left_.clear();
  clear_updated();
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

void Server::expire(std::chrono::steady_clock::time_point now, Duration timeout) {
  for (Exchange* exchange : open_) {
    if (exchange->complete_ || exchange->answered_) continue;
    if (!exchange->seen_unfinished_) exchange->seen_unfinished_ = now;
    if (now - *exchange->seen_unfinished_ >= timeout) reset(*exchange, NGHTTP2_CANCEL);
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
  if (!exchanges_.has_idle()) {  // allocates in advance, so that nothing throws below or in close_exchange
    open_.reserve(exchanges_.size() + 1);
    left_.reserve(exchanges_.size() + 1);
    updated_.reserve(exchanges_.size() + 1);
  }
  Exchange& exchange = exchanges_.acquire();
  open_.push_back(&exchange);
  exchange.begin(stream);
  exchange.slot_ = open_.size() - 1;
  last_ = &exchange;
  return exchange;
}

void Server::close_exchange(Exchange& exchange) noexcept {
  buffered_ -= counted(exchange);
  unsent_ -= exchange.counted_ - exchange.sent_;
  open_[exchange.slot_] = open_.back();
  open_[exchange.slot_]->slot_ = exchange.slot_;
  open_.pop_back();
  if (last_ == &exchange) last_ = nullptr;
  exchange.closed_ = true;
  if (exchange.updated_) {
    left_.push_back(&exchange);  // the caller may still use it
  } else if (!exchange.retained_) {
    give_back(exchange);
  }
}

void Server::release(Exchange& exchange) noexcept {
  exchange.retained_ = false;
  if (exchange.closed_ && !exchange.updated_) give_back(exchange);
}

void Server::give_back(Exchange& exchange) noexcept {
  exchange.forget();
  exchanges_.release(exchange);
}

void Server::mark_updated(Exchange& exchange) noexcept {
  if (exchange.updated_) return;
  exchange.updated_ = true;
  updated_.push_back(&exchange);
}

void Server::clear_updated() noexcept {
  for (Exchange* exchange : updated_) exchange->updated_ = false;
  updated_.clear();
}

void Server::store_field(Exchange& exchange, Field field, std::string_view value) {
  buffered_ -= counted(exchange);
  if (has_room(exchange.buffered() + value.size())) {
    exchange.store(field, value);
  } else {
    exchange.set_fault(Fault::head_too_large);
  }
  buffered_ += counted(exchange);
}

void Server::append_body(Exchange& exchange, std::string_view chunk) {
  if (exchange.answered_ && exchange.ended_) return;
  buffered_ -= counted(exchange);
  exchange.body_.erase(0, exchange.taken_);
  exchange.taken_ = 0;
  const bool fits =
      exchange.body_.size() + chunk.size() <= limits_.body_bytes && has_room(exchange.buffered() + chunk.size());
  if (!fits) exchange.set_fault(Fault::body_too_large);
  if (exchange.fault_ == Fault::none) {
    exchange.body_.append(chunk);
  } else {
    std::string().swap(exchange.body_);  // the body of a request with a fault is never used
  }
  buffered_ += counted(exchange);
}

}  // namespace weir::wire::http2
