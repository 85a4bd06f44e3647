#include "engine/local/process_handle.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace weft::local {

// Through syscall(), since glibc 2.36 forgot to declare its wrappers as C functions.

FileDescriptor open_process(pid_t pid) { return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

int signal_process_handle(const FileDescriptor& handle, int signal) {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0));
}

}  // namespace weft::local
