// Requests to inspect or to reset one counter: that of a consumer of a limit, or of a descriptor of a domain.
// docs/protocols.md, "The admin listener", describes the answers. To inspect charges nothing; to reset forgets what was
// counted, warnings and blocks included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/evaluation_batch.h"
#include "text/json_writer.h"
#include "weir/result.h"

namespace weir::frontend {

class CounterRequest {
 public:
  enum class Kind : std::uint8_t { inspect, reset };

  CounterRequest() = default;
  CounterRequest(const CounterRequest&) = delete;
  CounterRequest& operator=(const CounterRequest&) = delete;
  virtual ~CounterRequest() = default;

  // The batch views the request, which stays until the batch is done.
  void add_to(engine::EvaluationBatch& batch) {
    first_ = batch.size();
    add(batch);
  }

  // Its number in the batch.
  [[nodiscard]] std::size_t first() const noexcept { return first_; }

  // When the batch is done. On an error the policy does not know the counter, or it cannot be forgotten.
  [[nodiscard]] virtual std::optional<Error> error(const engine::EvaluationBatch& batch) const = 0;
  // The fields of the answer, into an object that is open. Only without an error.
  virtual void write(const engine::EvaluationBatch& batch, text::JsonWriter& json) const = 0;
  // The status of an error.
  [[nodiscard]] virtual unsigned status_of_error(const engine::EvaluationBatch& batch) const = 0;

 protected:
  virtual void add(engine::EvaluationBatch& batch) = 0;

 private:
  std::size_t first_ = 0;
};

[[nodiscard]] std::unique_ptr<CounterRequest> consumer_request(CounterRequest::Kind kind, std::string_view limit,
                                                               std::string_view consumer, std::string_view tier = {});
[[nodiscard]] std::unique_ptr<CounterRequest> descriptor_request(
    CounterRequest::Kind kind, std::string_view domain, std::vector<std::pair<std::string, std::string>> entries);

}  // namespace weir::frontend
