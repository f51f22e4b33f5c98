#include "sandbox.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace perfcc {
namespace {

bool limit(__rlimit_resource resource, rlim_t value) {
  rlimit wanted{value, value};
  return setrlimit(resource, &wanted) == 0;
}

// ---- Landlock (Documentation/userspace-api/landlock.rst of Linux): no writes but below the scratch folder. Declared
// here, as headers may be older.

constexpr long LandlockCreate = 444;
constexpr long LandlockAddRule = 445;
constexpr long LandlockRestrict = 446;
constexpr std::uint64_t WriteFile = 1ULL << 1;
constexpr std::uint64_t FirstChange = 1ULL << 4; // remove, make, ... : all rights above reading

struct RulesetAttributes {
  std::uint64_t handled_access_fs;
};

struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};

bool landlock(const std::string &scratch) {
  long version = syscall(LandlockCreate, nullptr, 0, 1);
  if (version < 1)
    return false;
  std::uint64_t rights = WriteFile;
  int last = version >= 3 ? 14 : version == 2 ? 13 : 12; // REFER came with 2, TRUNCATE with 3
  for (int bit = 4; bit <= last; ++bit)
    rights |= FirstChange << (bit - 4);
  RulesetAttributes attributes{rights};
  auto ruleset = static_cast<int>(syscall(LandlockCreate, &attributes, sizeof attributes, 0));
  if (ruleset < 0)
    return false;
  int folder = open(scratch.c_str(), O_PATH | O_CLOEXEC);
  PathBeneath rule{rights, folder};
  bool done =
      folder >= 0 && syscall(LandlockAddRule, ruleset, 1, &rule, 0) == 0 && syscall(LandlockRestrict, ruleset, 0) == 0;
  if (folder >= 0)
    close(folder);
  close(ruleset);
  return done;
}

// ---- seccomp: a list of what is refused, with EPERM, as the sanitizers' run-time libraries need much of the rest.

#if defined(__x86_64__)
constexpr std::uint32_t Architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t Architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t Architecture = 0;
#endif

constexpr long Refused[] = {
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_sendmsg,
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_kill,
    SYS_tkill,
    SYS_pidfd_open,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_mount,
    SYS_umount2,
    SYS_unshare,
    SYS_setns,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_io_uring_setup,
    SYS_userfaultfd,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_reboot,
    SYS_swapon,
    SYS_chroot,
    SYS_pivot_root,
    SYS_kexec_load,
    SYS_open_by_handle_at,
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setresuid,
    SYS_msgget,
    SYS_semget,
    SYS_shmget,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_sethostname,
    SYS_pidfd_send_signal,
    SYS_rt_sigqueueinfo,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
};

sock_filter step(std::uint16_t code, std::uint32_t value, std::uint8_t yes = 0, std::uint8_t no = 0) {
  return {code, yes, no, value};
}

bool seccomp() {
  if (Architecture == 0)
    return false;
  constexpr std::uint16_t Load = BPF_LD | BPF_W | BPF_ABS;
  constexpr std::uint16_t Equal = BPF_JMP | BPF_JEQ | BPF_K;
  constexpr std::uint16_t Any = BPF_JMP | BPF_JSET | BPF_K;
  constexpr std::uint16_t Return = BPF_RET | BPF_K;
  constexpr std::uint32_t Deny = SECCOMP_RET_ERRNO | EPERM;
  std::vector<sock_filter> program;
  program.push_back(step(Load, offsetof(seccomp_data, arch)));
  program.push_back(step(Equal, Architecture, 1, 0));
  program.push_back(step(Return, SECCOMP_RET_KILL_PROCESS));
  program.push_back(step(Load, offsetof(seccomp_data, nr)));
#if defined(__x86_64__)
  program.push_back(step(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, 0, 1)); // the x32 numbers would slip through the list
  program.push_back(step(Return, Deny));
#endif
  for (long number : Refused) {
    program.push_back(step(Equal, static_cast<std::uint32_t>(number), 0, 1));
    program.push_back(step(Return, Deny));
  }
  // The jumps below end at the two last lines: allow, then deny. glibc falls back to clone, whose flags a filter can
  // see: threads yes, processes no.
  program.push_back(step(Equal, static_cast<std::uint32_t>(SYS_clone3), 0, 1));
  program.push_back(step(Return, SECCOMP_RET_ERRNO | ENOSYS));
  program.push_back(step(Equal, static_cast<std::uint32_t>(SYS_clone), 0, 3));
  program.push_back(step(Load, offsetof(seccomp_data, args[0])));
  program.push_back(step(Any, CLONE_THREAD, 4, 0));
  program.push_back(step(Return, Deny));
  // Signals to this process alone, as abort() sends.
  program.push_back(step(Equal, static_cast<std::uint32_t>(SYS_tgkill), 0, 2));
  program.push_back(step(Load, offsetof(seccomp_data, args[0])));
  program.push_back(step(Equal, static_cast<std::uint32_t>(getpid()), 0, 1));
  program.push_back(step(Return, SECCOMP_RET_ALLOW));
  program.push_back(step(Return, Deny));
  sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

} // namespace

std::vector<std::string> enter_sandbox(const Job &job) {
  std::vector<std::string> active;
  bool limits = limit(RLIMIT_CPU, job.cpu_seconds) && limit(RLIMIT_FSIZE, 64 << 20) && limit(RLIMIT_NOFILE, 256) &&
                limit(RLIMIT_CORE, 0);
  if (job.address_bytes != 0)
    limits = limit(RLIMIT_AS, job.address_bytes) && limits;
  if (limits)
    active.emplace_back("limits");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
    active.emplace_back("no-new-privileges");
  prctl(PR_SET_PDEATHSIG, 9);
  if (!job.scratch.empty() && landlock(job.scratch))
    active.emplace_back("landlock");
  if (seccomp())
    active.emplace_back("seccomp");
  return active;
}

} // namespace perfcc
