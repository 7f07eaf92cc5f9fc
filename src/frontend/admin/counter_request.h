// Requests to inspect or reset one counter: of a consumer at a limit, or of a descriptor in a domain.
// docs/reference-admin.md describes the responses. Inspecting charges nothing. Resetting also clears
// warnings and blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

  // The batch refers to this request, which must outlive it.
  void add_to(engine::EvaluationBatch& batch) {
    first_ = batch.size();
    add(batch);
  }

  // Sets how overrides and blocks are named.
  using IdOf = std::function<std::string(match::ExceptionNumber)>;
  void name_exceptions(IdOf id_of) { id_of_ = std::move(id_of); }

  // The index of the request in the batch.
  [[nodiscard]] std::size_t first() const noexcept { return first_; }

  // Called after the batch is done. An error means that the policy has no such counter, or that it cannot be reset.
  [[nodiscard]] virtual std::optional<Error> error(const engine::EvaluationBatch& batch) const = 0;
  // Writes the fields of the response into an open object. Requires that error() returns nothing.
  virtual void write(const engine::EvaluationBatch& batch, text::JsonWriter& json) const = 0;
  // The HTTP status for error().
  [[nodiscard]] virtual unsigned status_of_error(const engine::EvaluationBatch& batch) const = 0;

 protected:
  virtual void add(engine::EvaluationBatch& batch) = 0;
  [[nodiscard]] const IdOf& id_of() const noexcept { return id_of_; }

 private:
  std::size_t first_ = 0;
  IdOf id_of_;
};

[[nodiscard]] std::unique_ptr<CounterRequest> consumer_request(CounterRequest::Kind kind, std::string_view limit,
                                                               std::string_view consumer, std::string_view tier = {});
[[nodiscard]] std::unique_ptr<CounterRequest> descriptor_request(
    CounterRequest::Kind kind, std::string_view domain, std::vector<std::pair<std::string, std::string>> entries);

}  // namespace weir::frontend
