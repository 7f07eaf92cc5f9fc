#include "server/config_reader.h"

#include <string_view>
#include <utility>
#include <vector>

#include "policy/map_reader.h"
#include "server/config_doors.h"
#include "server/config_store.h"
#include "server/config_values.h"

namespace weir::server {
namespace {

using policy::Form;
using policy::MapReader;
using policy::Problems;
using policy::yaml::Node;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr SizeBounds memory_bounds{.least = std::size_t{1} << 20, .most = std::size_t{1} << 40};
constexpr TimeBounds snapshot_bounds{.least = seconds(1), .most = hours(24)};
constexpr TimeBounds jitter_bounds{.least = Duration::zero(), .most = hours(1)};
constexpr TimeBounds stopping_bounds{.least = Duration::zero(), .most = hours(1)};
constexpr policy::Bounds denials_bounds{.least = 1, .most = 1'000'000};
constexpr policy::Bounds loop_bounds{.least = 1, .most = 1'024};
constexpr Duration default_snapshot = minutes(1);

Result<bool> parse_version(std::string_view text) {
  if (text == "1") return true;
  return failure(policy::quoted(text), "this version is not known: write 1");
}

// Whoever says where state belongs wants it kept, unless the file says otherwise.
void read_snapshot(MapReader& map, bool directory_written, StateConfig& state) {
  const Switch written = read_switch(map, "snapshot");
  if (!written.off && (written.map != nullptr || directory_written)) state.snapshot_every = default_snapshot;
  if (written.map == nullptr) return;
  MapReader snapshot(*written.map, "snapshot", map.problems());
  read_time(snapshot, "every", snapshot_bounds, *state.snapshot_every);
  snapshot.finish();
}

void read_state(const Node& node, const std::filesystem::path& folder, StateConfig& state, Problems& problems) {
  MapReader map(node, "state", problems);
  std::optional<std::filesystem::path> directory;
  read_path(map, "directory", folder, directory);
  read_size(map, "memory", memory_bounds, state.memory);
  read_snapshot(map, directory.has_value(), state);
  map.finish();
  state.is_named = directory.has_value();
  if (directory) state.directory = *std::move(directory);
  if (state.snapshot_every && state.directory.empty() && !problems.any_error()) {
    problems.error(node.at, "snapshot: there is no state directory to keep it in: name one in directory");
  }
}

void read_fields(const Node& node, FieldsConfig& fields, Problems& problems) {
  static const std::vector<std::string> forms{"delta", "epoch", "off"};
  MapReader map(node, "fields", problems);
  read_truth(map, "current", fields.choice.current);
  if (const auto form = map.one_of("x_rate_limit", forms)) {
    fields.choice.x_rate_limit = forms[form->value] != "off";
    fields.choice.x_reset = forms[form->value] == "epoch" ? wire::ResetForm::epoch : wire::ResetForm::delta;
  }
  read_truth(map, "older", fields.choice.older_triple);
  read_time(map, "retry_jitter", jitter_bounds, fields.retry_jitter);
  map.finish();
}

void read_denials(MapReader& log, std::optional<DenialLogConfig>& denials) {
  const Switch written = read_switch(log, "denials");
  if (written.off) denials.reset();
  if (written.map == nullptr) return;
  MapReader map(*written.map, "denials", log.problems());
  if (const auto sample = map.value("sample", Form::text, parse_sample)) denials->sample = sample->value;
  if (const auto most = map.whole("per_second", denials_bounds)) {
    denials->per_second = static_cast<std::uint32_t>(most->value);
  }
  map.finish();
}

void read_log(const Node& node, const std::filesystem::path& folder, LogConfig& log, Problems& problems) {
  MapReader map(node, "log", problems);
  if (const auto level = map.choice("level", LogLevel::debug)) log.level = level->value;
  read_denials(map, log.denials);
  const Node* file = map.find("file");
  if (file != nullptr && !(file->is_scalar() && file->text == "stderr")) read_path(map, "file", folder, log.file);
  read_path(map, "hash_key_file", folder, log.hash_key_file);
  map.finish();
}

// Which doors the file says something about: that they are off, or where they are.
void note_origins(const Node& doors, const std::string& file, Origins& origins) {
  const auto note = [&](std::string_view name, std::string& origin) {
    const Node* door = doors.find(name);
    if (door != nullptr && (!door->is_map() || door->find("listen") != nullptr)) origin = file;
  };
  note("http", origins.http);
  note("rls", origins.rls);
  note("resp", origins.resp);
  note("admin", origins.admin);
}

}  // namespace

Config read_config(const Node& root, const std::filesystem::path& folder, Config config, Problems& problems) {
  MapReader map(root, "weir.yaml", problems);
  if (const auto* version = map.require("version", "version: 1")) {
    (void)policy::read_value(*version, "version", Form::number, parse_version, problems);
  }
  read_path(map, "policy", folder, config.policy);
  read_truth(map, "merge_domains", config.merge_domains);
  if (config.policy) config.origins.policy = problems.file();
  if (const auto* doors = map.find("doors")) {
    config.doors = read_doors(*doors, folder, problems);
    note_origins(*doors, problems.file(), config.origins);
  }
  if (const auto* state = map.find("state")) read_state(*state, folder, config.state, problems);
  if (const auto* fields = map.find("fields")) read_fields(*fields, config.fields, problems);
  if (const auto* log = map.find("log")) read_log(*log, folder, config.log, problems);
  if (const auto* store = map.find("store")) config.store = read_store(*store, folder, problems);
  if (const auto loops = map.whole("loops", loop_bounds)) config.loops = static_cast<unsigned>(loops->value);
  read_time(map, "grace", stopping_bounds, config.grace);
  read_time(map, "drain", stopping_bounds, config.drain);
  map.finish();
  return config;
}

}  // namespace weir::server
