#pragma once

#include "service/client.h"
#include "service/info.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

// How client commands speak to people, and what they exit with.

/// Writes to stderr as far as that is possible: what cannot be said must not end the program.
void say(std::string_view text);

/// "weft: …" on stderr; the exit status that fits the error.
int report(const Error& error);
int report(std::string_view message, int exit_status);
/// The same of a command that says its name: "weft: saturate: …".
int report(std::string_view command, const Error& error);
/// The server's error in an answer that is no success.
Error error_of(const service::Client::Answer& answer);
int report(const service::Client::Answer& answer);

/// Columns of the terminal on stdout; 0 where it is none.
size_t terminal_width();

/// "0-3,6"; "-" for none.
std::string index_ranges(std::vector<int32_t> indices);
/// The GPUs of all tasks: indices on one node, with the node's name before them on several.
std::string gpus_text(const service::JobInfo& job);
/// "python train.py --lr '1 2'": words that a shell would take apart are quoted.
std::string command_text(const std::vector<std::string>& command);
/// "2 GPUs (H100), 1 CPU, 8Gi in 2 tasks".
std::string request_text(const service::JobInfo& job);
/// "12:03:01", with the date before it when that is not today.
std::string clock_text(int64_t wall_ms);
int64_t now_ms();
/// How long it has waited, run or took.
std::string duration_text(const service::JobInfo& job);
/// "waited 3s, ran 2m05s": of a job that has ended.
std::string times_text(const service::JobInfo& job);
/// Its time limit; empty where it has none.
std::string limit_text(const service::JobInfo& job);
/// How a job that has ended did: "done", "failed with exit status 3", "failed: killed by signal 9 (Killed)", …
std::string outcome_text(const service::JobInfo& job);
std::string fragmentation_text(const service::ClusterInfo& cluster);

std::string jobs_table(const std::vector<service::JobInfo>& jobs, size_t width);
std::string nodes_table(const std::vector<service::NodeInfo>& nodes, size_t width);
std::string gpus_table(const std::vector<service::NodeInfo>& nodes, size_t width);

}  // namespace weft::cli
