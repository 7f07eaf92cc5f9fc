#include "simulate/gzip_stream.h"

#include <algorithm>
#include <limits>
#include <utility>

#define ZLIB_CONST
#include <zlib.h>

namespace weir::simulate {
namespace {

constexpr int gzip_only = 16 + MAX_WBITS;

uInt counted(std::size_t size) noexcept {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

struct GzipStream::Zlib {
  z_stream stream{};
};

std::unique_ptr<GzipStream> GzipStream::make() {
  auto zlib = std::make_unique<Zlib>();
  if (inflateInit2(&zlib->stream, gzip_only) != Z_OK) return nullptr;
  return std::unique_ptr<GzipStream>(new GzipStream(std::move(zlib)));
}

GzipStream::GzipStream(std::unique_ptr<Zlib> zlib) noexcept : zlib_(std::move(zlib)) {}

GzipStream::~GzipStream() {
  inflateEnd(&zlib_->stream);
}

GzipStream::Step GzipStream::inflate(std::span<const std::byte> input, std::span<char> output) {
  Step step;
  z_stream& stream = zlib_->stream;
  while (damage_.empty() && step.consumed < input.size() && step.produced < output.size()) {
    if (between_members_) {
      while (step.consumed < input.size() && input[step.consumed] == std::byte{}) ++step.consumed;
      if (step.consumed == input.size()) break;
      inflateReset(&stream);
      between_members_ = false;
    }
    const auto in = input.subspan(step.consumed);
    const auto out = output.subspan(step.produced);
    stream.next_in = reinterpret_cast<const Bytef*>(in.data());
    stream.avail_in = counted(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = counted(out.size());
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    step.consumed += counted(in.size()) - stream.avail_in;
    step.produced += counted(out.size()) - stream.avail_out;
    if (status == Z_STREAM_END) {
      between_members_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      damage_ = stream.msg != nullptr ? stream.msg : "unreadable";
    }
  }
  return step;
}

}  // namespace weir::simulate
