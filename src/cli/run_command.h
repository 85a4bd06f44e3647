#pragma once

#include "cli/job_options.h"

#include <string>
#include <vector>

namespace weft::cli {

/// `weft run`: submits the command, shows its output and passes its exit status on. A signal cancels the job, a second
/// one kills it. Where the server does not answer, they end the client, and the server cancels the job when it comes to
/// it.
int run_command(const JobOptions& options, std::vector<std::string> command);

enum class SubmitOutput : unsigned char { kText, kJson };

/// What the words of `weft submit` are.
enum class Submission : unsigned char {
  kScript,   ///< a script's path and its arguments
  kCommand,  ///< a program and its arguments, as for `weft run`
};

/// `weft submit`: hands a copy of the script, or the command, over. `read_script_options` reads the words of one
/// `#WEFT` line.
using ReadScriptOptions = Result<JobOptions> (*)(const std::vector<std::string>& words);
int submit_command(const JobOptions& options, Submission what, std::vector<std::string> words,
                   ReadScriptOptions read_script_options, SubmitOutput output);

}  // namespace weft::cli
