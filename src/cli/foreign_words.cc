#include "cli/foreign_words.h"

#include <algorithm>
#include <span>

namespace weft::cli {
namespace {

struct Foreign {
  std::string_view word;
  std::string_view text;
};

constexpr std::string_view kNoHold = "jobs cannot be held back and released yet; cancel it, and submit it again later";
constexpr std::string_view kNoReservations = "there are no reservations yet";
constexpr std::string_view kNoTop =
    "there is no such view yet; 'weft queue --watch' and 'weft nodes' show what goes on";
constexpr std::string_view kNoHistory =
    "there is no history beyond the server's life yet; 'weft queue --all' lists its jobs";

constexpr Foreign kCommands[] = {
    {"sbatch", "it is 'weft submit' here"},
    {"srun", "it is 'weft run' here"},
    {"salloc", "there are no allocations without a command; 'weft run -G 1 -- bash script' runs one"},
    {"squeue", "it is 'weft queue' here"},
    {"scancel", "it is 'weft cancel' here"},
    {"sinfo", "it is 'weft nodes' here"},
    {"scontrol", "'weft show JOB' and 'weft nodes' tell all about jobs and nodes"},
    {"sacct", kNoHistory},
    {"history", kNoHistory},
    {"sprio", "'weft why JOB' says why a job does not run"},
    {"sshare", "there are no fair shares yet"},
    {"gflowd", "it is 'weft serve' here"},
    {"gbatch", "it is 'weft submit' here"},
    {"gqueue", "it is 'weft queue' here"},
    {"gcancel", "it is 'weft cancel' here"},
    {"ginfo", "it is 'weft nodes' here"},
    {"gjob", "it is 'weft show' here"},
    {"attach", "it is 'weft log --follow JOB' here"},
    {"tail", "it is 'weft log --follow JOB' here"},
    {"logs", "it is 'weft log' here"},
    {"output", "it is 'weft log' here"},
    {"list", "it is 'weft queue' here"},
    {"ls", "it is 'weft queue' here"},
    {"ps", "it is 'weft queue' here"},
    {"jobs", "it is 'weft queue' here"},
    {"status", "it is 'weft queue' here, or 'weft show JOB'"},
    {"info", "it is 'weft nodes' here, or 'weft show JOB'"},
    {"gpus", "it is 'weft nodes' here"},
    {"kill", "it is 'weft cancel' here"},
    {"stop", "it is 'weft cancel' here"},
    {"rm", "it is 'weft cancel' here"},
    {"remove", "it is 'weft cancel' here"},
    {"delete", "it is 'weft cancel' here"},
    {"add", "it is 'weft submit' here"},
    {"start", "a server is started by 'weft serve', a job by 'weft run' or 'weft submit'"},
    {"daemon", "it is 'weft serve' here"},
    {"up", "it is 'weft serve' here"},
    {"hold", kNoHold},
    {"release", kNoHold},
    {"suspend", kNoHold},
    {"resume", kNoHold},
    {"requeue", "a job cannot be started again yet; submit it again"},
    {"update", "a job cannot be changed yet; cancel it and submit it again"},
    {"reserve", kNoReservations},
    {"drain", "nodes cannot be drained yet"},
    {"top", kNoTop},
    {"watch", kNoTop},
    {"stats", kNoTop},
    {"usage", "there are no accounts of usage yet"},
};

constexpr std::string_view kNoArrays =
    "there are no job arrays yet; use a loop: for i in 1 2 3; do weft submit job.sh $i; done";
constexpr std::string_view kNoDependencies =
    "there are no dependencies yet; 'weft wait JOB && weft submit …' submits when that job has ended well";
constexpr std::string_view kNoBegin = "there are no begin times yet";
constexpr std::string_view kOneNode = "a server has one node so far, so there is nothing to choose";
constexpr std::string_view kGpus = "the option for GPUs is -G N, or --gpus N; with --gpu MODEL for a model";
constexpr std::string_view kCount = "the option for several tasks is -N, or --count";
constexpr std::string_view kMemory = "the option for memory is -m, or --mem; it is for each task";
constexpr std::string_view kNoAccounts = "there are no accounts yet";
constexpr std::string_view kNoMail = "weft sends no mail; 'weft wait JOB' returns when a job has ended";

constexpr Foreign kOptions[] = {
    {"--array", kNoArrays},
    {"-a", kNoArrays},
    {"--dependency", kNoDependencies},
    {"--depends-on", kNoDependencies},
    {"--after", kNoDependencies},
    {"-d", kNoDependencies},
    {"--begin", kNoBegin},
    {"-b", kNoBegin},
    {"--deadline", "there are no deadlines yet"},
    {"--hold", kNoHold},
    {"-H", kNoHold},
    {"--reservation", kNoReservations},
    {"--requeue", "a job is not started again by itself yet"},
    {"--gres", kGpus},
    {"--gpus-per-node", kGpus},
    {"--gpus-per-task", kGpus},
    {"--gpu-type", kGpus},
    {"-g", kGpus},
    {"--ntasks", kCount},
    {"--ntasks-per-node", kCount},
    {"--nodes", "a server has one node so far; the option for several tasks is -N, or --count"},
    {"-n", kCount},
    {"--cpus-per-task", "the option for CPUs is -c, or --cpus"},
    {"--mem-per-cpu", kMemory},
    {"--mem-per-gpu", kMemory},
    {"--memory", kMemory},
    {"--partition", "the option for a queue is -q, or --queue"},
    {"--job-name", "the option for a name is -J, or --name"},
    {"--chdir", "the option for the working directory is -D, or --directory"},
    {"--workdir", "the option for the working directory is -D, or --directory"},
    {"--time-limit", "the option for a time limit is -t, or --time"},
    {"--limit", "the option for a time limit is -t, or --time"},
    {"--wrap", "a command stands behind --, as in 'weft submit -- python train.py'"},
    {"--exclusive", "there is no such option; -G with the number of all GPUs takes the machine's"},
    {"--nodelist", kOneNode},
    {"-w", kOneNode},
    {"--exclude", kOneNode},
    {"-x", kOneNode},
    {"--constraint", kOneNode},
    {"-C", kOneNode},
    {"--account", kNoAccounts},
    {"-A", kNoAccounts},
    {"--qos", kNoAccounts},
    {"--mail-type", kNoMail},
    {"--mail-user", kNoMail},
    {"--export", "a job has the environment in which it was submitted; 'env NAME=VALUE weft submit …' sets more"},
    {"--env", "a job has the environment in which it was submitted; 'env NAME=VALUE weft submit …' sets more"},
    {"--signal", "there are no warning signals yet; --grace is the time between TERM and KILL"},
    {"--conda-env", "a job has the environment in which it was submitted: activate it there, or in the script"},
    {"--pty", "a job reads nothing from the terminal"},
    {"--interactive", "a job reads nothing from the terminal"},
};

std::string_view text_of(std::string_view word, std::span<const Foreign> words) {
  const auto found = std::ranges::find(words, word, &Foreign::word);
  return found == words.end() ? std::string_view() : found->text;
}

}  // namespace

std::string_view foreign_command_text(std::string_view command) { return text_of(command, kCommands); }
std::string_view foreign_option_text(std::string_view option) { return text_of(option, kOptions); }

}  // namespace weft::cli
