#pragma once

namespace weft::local {

/// The argument that turns the `weft` binary into a supervisor: `weft __supervise …`, started by LocalEngine only.
inline constexpr const char* kSuperviseArgument = "__supervise";

/// Runs one task and owns every process of it. The server talks to it over kControlFd; kLaunchFd holds the task.
///
/// 1. Whatever the command starts stays below this process, also when it forks twice or opens a session of its own,
/// because this
///    process is a child subreaper. The task has ended when this process has no child left, and only then it reports
///    the end.
/// 2. The command waits after its fork until the server says go, so that all tasks of a gang start or none.
/// 3. When the command ends and processes of it are left, they get a second to end on their own, then TERM, a grace,
/// then KILL.
///    On kStop, on SIGTERM and when the server is gone the TERM comes at once.
///
/// Returns the exit status of the supervisor process. Requires: one thread.
int supervise();

}  // namespace weft::local
