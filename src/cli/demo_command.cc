#include "cli/application.h"
#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/present.h"
#include "cli/serve_options.h"
#include "service/api.h"
#include "service/info.h"
#include "service/socket_place.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <unistd.h>

namespace weft::cli {
namespace {

struct DemoOptions {
  std::optional<std::string> virtual_gpus = "8";
  bool is_once = false;
};

/// A folder that is nobody else's and is gone afterwards.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-demo-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Example {
  std::string name;
  int32_t gpus = 0;
  int32_t tasks = 1;
  std::string text;  ///< for the shell
  int32_t exit_status = 0;
};

/// A handful of jobs that between them show waiting, overtaking, a gang and a failure.
std::vector<Example> examples(int32_t gpus) {
  const auto at_most = [gpus](int32_t wanted) { return std::min(wanted, gpus); };
  return {
      {.name = "one-gpu", .gpus = at_most(1), .text = "echo \"one-gpu sees GPU $CUDA_VISIBLE_DEVICES\"; sleep 2"},
      {.name = "two-gpus", .gpus = at_most(2), .text = "echo \"two-gpus sees GPUs $CUDA_VISIBLE_DEVICES\"; sleep 3"},
      {.name = "four-gpus", .gpus = at_most(4), .text = "echo \"four-gpus sees GPUs $CUDA_VISIBLE_DEVICES\"; sleep 2"},
      {.name = "all-gpus",
       .gpus = gpus,
       .text = "echo \"all-gpus waited for all the others and sees $CUDA_VISIBLE_DEVICES\"; sleep 1"},
      {.name = "gang",
       .gpus = at_most(1),
       .tasks = std::max(1, at_most(4)),
       .text = "echo \"rank ${RANK:-0} of ${WORLD_SIZE:-1}\"; sleep 1.5"},
      {.name = "cpu-only", .text = "echo \"cpu-only sees GPU $CUDA_VISIBLE_DEVICES\"; sleep 1"},
      {.name = "fails",
       .gpus = at_most(1),
       .text = "sleep 1; echo 'fails fails, as it should' >&2; exit 3",
       .exit_status = 3},
  };
}

/// Submits the examples to a server in the same process, and shows what becomes of them.
class Demo {
 public:
  Demo(Application& application, const DemoOptions& options, std::string socket, std::string directory)
      : application_(application),
        is_once_(options.is_once),
        socket_(std::move(socket)),
        directory_(std::move(directory)) {}

  int run() {
    fmt::print("weft: serving {} on {}\n\n", machine_text(application_.node()), socket_);
    std::fflush(stdout);
    application_.api().feed().subscribe([this] { on_news(); });
    application_.after({0}, [this] { submit_all(); });
    application_.run();
    return failures_ == 0 ? kSuccess : kFailure;
  }

 private:
  service::Reply ask(service::Method method, std::string target, std::string body = {}) {
    return application_.api().handle(
        {.method = method, .target = std::move(target), .body = std::move(body), .peer = ::geteuid()});
  }

  void submit_all() {
    for (const Example& example : examples(static_cast<int32_t>(application_.node().devices.size()))) {
      service::JobRequest request{.name = example.name,
                                  .tasks = example.tasks,
                                  .gpus = example.gpus,
                                  .command = {"/bin/sh", "-c", example.text},
                                  .directory = directory_};
      const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
      if (path != nullptr) request.environment = {{"PATH", path}};
      const service::Reply reply = ask(service::Method::kPost, "/v1/jobs", service::write_job_request(request));
      const auto job = service::read_job(reply.body);
      if (!job) {
        report(fmt::format("the example {} was refused: {}", example.name, reply.body), kFailure);
        ++failures_;
        continue;
      }
      expected_[job->id] = example;
    }
    has_submitted_ = true;
    on_news();
  }

  /// Rung in the middle of things: looks at them when they have settled.
  void on_news() {
    if (std::exchange(is_due_, true)) return;
    application_.after({0}, [this] {
      is_due_ = false;
      if (has_submitted_ && !is_done_) show();
    });
  }

  void show() {
    const auto jobs = service::read_jobs(ask(service::Method::kGet, "/v1/jobs?all=1").body);
    if (!jobs) return;
    ::isatty(STDOUT_FILENO) != 0 ? redraw(*jobs) : append(*jobs);
    std::fflush(stdout);
    is_done_ = std::ranges::all_of(*jobs, [](const service::JobInfo& job) { return job.has_ended(); });
    if (is_done_) conclude(*jobs);
  }

  void redraw(const std::vector<service::JobInfo>& jobs) {
    const std::string table = jobs_table(jobs, terminal_width());
    if (lines_ > 0) fmt::print("\033[{}A\033[J", lines_);
    fmt::print("{}", table);
    lines_ = std::ranges::count(table, '\n');
  }

  void append(const std::vector<service::JobInfo>& jobs) {
    for (const service::JobInfo& job : jobs) {
      std::string line =
          fmt::format("job {} {}: {}", job.id, job.name, job.has_ended() ? outcome_text(job) : job.state);
      if (job.state == "running" && job.gpus > 0) line += " on GPU " + gpus_text(job);
      if (job.state == "pending" && !job.why.empty()) line += ", " + job.why;
      if (std::exchange(told_[job.id], line) != line) fmt::print("{}\n", line);
    }
  }

  void conclude(const std::vector<service::JobInfo>& jobs) {
    for (const service::JobInfo& job : jobs) {
      if (!expected_.contains(job.id) || job.exit_status == expected_[job.id].exit_status) continue;
      report(fmt::format("job {} ({}) should have ended with exit status {}", job.id, job.name,
                         expected_[job.id].exit_status),
             kFailure);
      ++failures_;
    }
    if (is_once_) return application_.stop();
    fmt::print(
        "\nAll examples have ended; one failed on purpose. The server goes on. Type in another terminal:\n\n{}\nCtrl-C "
        "ends the server and its jobs.\n",
        suggestions());
    std::fflush(stdout);
  }

  std::string suggestions() const {
    std::error_code error;
    std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    const auto near = std::filesystem::proximate(self, error);
    if (!error && !near.string().starts_with("..")) self = near;
    const std::string weft = self.string();
    const std::string setting =
        socket_ == service::default_socket_path() ? "" : fmt::format("  export WEFT_SOCKET={}\n", socket_);
    return fmt::format(
        "{0}  {1} nodes\n  {1} run -G 2 -- sh -c 'echo I see GPUs $CUDA_VISIBLE_DEVICES'\n  {1} run -G 99 -- true      "
        "    # can never run here: says why\n"
        "  {1} queue --all\n  {1} show @                     # @ is your latest job\n  {1} --help\n",
        setting, weft);
  }

  Application& application_;
  bool is_once_;
  std::string socket_;
  std::string directory_;
  std::map<int64_t, Example> expected_;
  std::map<int64_t, std::string> told_;
  int64_t lines_ = 0;
  int failures_ = 0;
  bool is_due_ = false;
  bool has_submitted_ = false;
  bool is_done_ = false;
};

int demo(const DemoOptions& written) {
  auto gpus = read_virtual_gpus(written.virtual_gpus, "");
  if (!gpus) return report(gpus.error());
  if (gpus->count == 0) return report("--virtual-gpus: the examples need at least one", kUsage);
  // The examples touch no GPU, so they may run on virtual ones beside real ones.
  gpus->beside_real_ones = local::VirtualGpus::BesideRealOnes::kAllow;
  const ScratchFolder scratch;
  if (scratch.path().empty()) return report("cannot make a temporary folder", kFailure);
  ApplicationOptions options{.socket_path = service::default_socket_path(),
                             .state_directory = scratch.path() + "/state",
                             .virtual_gpus = std::move(*gpus)};
  auto application = Application::create(options);
  if (!application) {
    // Somebody serves there, or may: a place of its own does as well.
    options.socket_path = scratch.path() + "/weft.sock";
    application = Application::create(options);
  }
  if (!application) return report(application.error());
  return Demo(**application, written, options.socket_path, scratch.path()).run();
}

}  // namespace

void add_demo_command(CLI::App& app, int& exit_status) {
  CLI::App* demo_app = app.add_subcommand("demo", "Serve virtual GPUs and run example jobs on them");
  set_place(*demo_app, kServerGroup, "weft demo --once");
  const auto options = std::make_shared<DemoOptions>();
  demo_app->add_option("--virtual-gpus", options->virtual_gpus, "how many (8)")->type_name("N");
  demo_app->add_flag("--once", options->is_once, "end when the examples have ended");
  demo_app->callback([options, &exit_status] { exit_status = demo(*options); });
}

}  // namespace weft::cli
