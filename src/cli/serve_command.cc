#include "base/text.h"
#include "cli/application.h"
#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/present.h"
#include "cli/serve_options.h"
#include "model/catalogue.h"
#include "service/socket_place.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

namespace weft::cli {
namespace {

struct ServeOptions {
  std::optional<std::string> socket;
  std::optional<std::string> state_directory;
  std::optional<std::string> virtual_gpus;
  std::optional<std::string> gpu_model;
  std::string policy = "pack";
  std::string grace = "10s";
  std::string log = "warnings";
  std::optional<std::string> journal;
};

/// The name of the one model that is meant.
Result<std::string> one_model(const std::string& written) {
  const DeviceCatalogue catalogue;
  std::vector<std::string_view> meant;
  for (const DeviceModelId id : catalogue.match(written)) meant.push_back(catalogue.model(id).name);
  if (meant.size() == 1) return std::string(meant[0]);
  if (!meant.empty()) {
    return fail(ErrorCode::kInvalidInput, fmt::format("--gpu-model: {} may be each of {}; write one of them",
                                                      quote(written), fmt::join(meant, ", ")));
  }
  const std::vector<std::string_view> names = catalogue.names();
  const std::string_view near = nearest(written, names);
  return fail(ErrorCode::kInvalidInput, fmt::format("--gpu-model: unknown model {}; {}", quote(written),
                                                    near.empty() ? fmt::format("known are {}", fmt::join(names, ", "))
                                                                 : fmt::format("did you mean '{}'?", near)));
}

/// What is given empty, by a variable that is not set say, does not mean the default.
Result<void> check_none_is_empty(const ServeOptions& written) {
  const auto is_empty = [](const std::optional<std::string>& text) { return text && text->empty(); };
  if (is_empty(written.socket)) return fail(ErrorCode::kInvalidInput, "--socket: expected a path, not ''");
  if (is_empty(written.state_directory)) return fail(ErrorCode::kInvalidInput, "--state-dir: expected a path, not ''");
  if (is_empty(written.journal)) return fail(ErrorCode::kInvalidInput, "--journal: expected a path, not ''");
  if (is_empty(written.gpu_model)) return fail(ErrorCode::kInvalidInput, "--gpu-model: expected a name, not ''");
  return {};
}

Result<ApplicationOptions> read_options(const ServeOptions& written) {
  if (auto ok = check_none_is_empty(written); !ok) return std::unexpected(ok.error());
  ApplicationOptions options;
  options.socket_path = written.socket ? *written.socket : service::default_socket_path();
  // Jobs and people use it from other directories.
  std::error_code error;
  if (!options.socket_path.starts_with('/')) {
    options.socket_path = std::filesystem::absolute(options.socket_path, error).string();
    if (error) return fail(ErrorCode::kUnavailable, "the working directory is gone");
  }
  options.state_directory = written.state_directory ? *written.state_directory : default_state_directory();
  auto gpus = read_virtual_gpus(written.virtual_gpus, written.gpu_model.value_or(""));
  if (!gpus) return std::unexpected(gpus.error());
  options.virtual_gpus = std::move(*gpus);
  options.policy = policy_called(written.policy);
  const auto grace = parse_duration(written.grace);
  if (!grace) return fail(ErrorCode::kInvalidInput, "--grace: " + grace.error().message);
  if (*grace < Duration{0} || *grace > hours(24)) return fail(ErrorCode::kInvalidInput, "--grace: expected 0 to 24h");
  options.grace = *grace;
  if (written.log != "quiet" && written.log != "warnings" && written.log != "decisions") {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("--log: '{}' is not known; expected quiet, warnings or decisions", written.log));
  }
  options.log_level = written.log == "quiet"       ? LogLevel::kQuiet
                      : written.log == "decisions" ? LogLevel::kDecisions
                                                   : LogLevel::kWarnings;
  options.journal = written.journal;
  return options;
}

int serve(const ServeOptions& written) {
  const auto options = read_options(written);
  if (!options) return report(options.error());
  const auto application = Application::create(*options);
  if (!application) return report(application.error());
  for (const std::string& note : (*application)->notes()) report(note, kSuccess);
  fmt::print("weft: serving {} on {}\n", machine_text((*application)->node()), options->socket_path);
  std::fflush(stdout);
  (*application)->run();
  return kSuccess;
}

}  // namespace

Result<local::VirtualGpus> read_virtual_gpus(const std::optional<std::string>& count, const std::string& model) {
  local::VirtualGpus gpus;
  if (!model.empty()) {
    auto one = one_model(model);
    if (!one) return std::unexpected(one.error());
    gpus.model = std::move(*one);
  }
  if (!count) return gpus;
  const auto number = parse_integer(*count, 0, kMaxDevicesPerNode);
  if (!number) return fail(ErrorCode::kInvalidInput, "--virtual-gpus: " + number.error().message);
  gpus.count = static_cast<int32_t>(*number);
  return gpus;
}

PolicyConfig policy_called(const std::string& name) {
  PolicyConfig policy;
  policy.node_scores = {{.name = name}};
  if (name == "spread") policy.nodes = policy.devices = PackOrSpread::kSpread;
  return policy;
}

void add_serve_command(CLI::App& app, int& exit_status) {
  CLI::App* serve_app = app.add_subcommand("serve", "Run jobs on this machine, until Ctrl-C");
  set_place(*serve_app, kServerGroup, "weft serve\n  weft serve --virtual-gpus 8");
  const auto options = std::make_shared<ServeOptions>();
  serve_app->add_option("--socket", options->socket, "where to listen ($WEFT_SOCKET, else a place of your own)")
      ->type_name("PATH");
  serve_app->add_option("--state-dir", options->state_directory, "folder for scripts and kept output")
      ->type_name("DIR");
  serve_app
      ->add_option("--virtual-gpus", options->virtual_gpus, "pretend to have so many GPUs, on a machine without any")
      ->type_name("N");
  serve_app->add_option("--gpu-model", options->gpu_model, "model of the virtual GPUs (generic, with 80 GiB)")
      ->type_name("NAME");
  serve_app->add_option("--policy", options->policy, "how places are chosen: pack (default), spread, fgd, ...")
      ->type_name("NAME");
  serve_app->add_option("--grace", options->grace, "time between TERM and KILL of jobs that name none (10s)")
      ->type_name("TIME");
  serve_app->add_option("--log", options->log, "what to log on stderr: quiet, warnings (default) or decisions")
      ->type_name("WHAT");
  serve_app->add_option("--journal", options->journal, "a new file for all that happens, for weft replay")
      ->type_name("FILE");
  serve_app->callback([options, &exit_status] { exit_status = serve(*options); });
}

}  // namespace weft::cli
