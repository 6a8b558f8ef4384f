// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/search/compile_pool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/base/status.h"
#include "src/runtime/search/compile_protocol.h"
#include "src/runtime/search/compile_worker.h"
#include "src/runtime/search/target_text.h"
#include "src/uop/print.h"

extern char** environ;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDERSTUDY_SHADOW_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDERSTUDY_SHADOW_MEMORY 1
#endif
#endif

namespace understudy {
namespace {

using Clock = std::chrono::steady_clock;

constexpr off_t kTailBytes = 1000;  // of what a worker printed, in an error

// The end of what the worker printed.
std::string Tail(int log) {
  const off_t size = lseek(log, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - kTailBytes);
  std::string words(static_cast<size_t>(std::max<off_t>(0, size - from)), ' ');
  const ssize_t n = pread(log, words.data(), words.size(), from);
  words.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return std::string(absl::StripAsciiWhitespace(words));
}

}  // namespace

// A process and what is under way with it.
struct CompilePool::Worker {
  pid_t pid = -1;
  int socket = -1, log = -1;
  std::string out, in;  // still to be written; read, and no whole frame yet
  bool busy = false;
  size_t job = 0;
  Clock::time_point end;
};

struct CompilePool::Batch {
  std::string kernel, target, name;
  absl::Span<const ChoiceList> candidates;
  std::vector<absl::StatusOr<CompiledKernel>> answers;
  size_t done = 0;

  std::string What(size_t job) const {
    const std::string choices = ChoicesText(candidates[job]);
    return absl::StrCat("compiling kernel ", name, " with ", choices.empty() ? "no choices" : choices);
  }
};

CompilePool::CompilePool(CompilePoolOptions options) : options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<CompilePool>> CompilePool::Create(CompilePoolOptions options) {
  if (options.worker.empty()) return absl::InvalidArgumentError("a compile pool needs a worker program");
  if (access(options.worker[0].c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat("no compile worker ", options.worker[0], ": ", std::strerror(errno)));
  }
  if (!(options.seconds > 0) || !std::isfinite(options.seconds))
    return absl::InvalidArgumentError(
        absl::StrCat("a compile's time is ", options.seconds, " s, expected more than 0"));
  if (options.workers <= 0)
    options.workers = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::unique_ptr<CompilePool> pool(new CompilePool(std::move(options)));
  for (int i = 0; i < pool->options_.workers; ++i) pool->workers_.push_back(std::make_unique<Worker>());
  return pool;
}

CompilePool::~CompilePool() {
  for (auto& w : workers_) End(*w, /*kill=*/true);
}

absl::Status CompilePool::Start(Worker& worker) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return absl::ResourceExhaustedError(
        absl::StrCat("a socket for a compile worker: ", std::strerror(errno)));
  worker.socket = pair[0];
  // The pool waits in poll only.
  fcntl(worker.socket, F_SETFL, O_NONBLOCK);
  worker.log = memfd_create("understudy-compile-worker", MFD_CLOEXEC);
  if (worker.log < 0) {
    close(pair[0]);
    close(pair[1]);
    return absl::ResourceExhaustedError(
        absl::StrCat("memory for a worker's messages: ", std::strerror(errno)));
  }
  fcntl(worker.log, F_SETFL, O_APPEND);
  std::vector<char*> argv;
  for (const std::string& a : options_.worker) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, worker.log, 1);
  posix_spawn_file_actions_adddup2(&actions, worker.log, 2);
  posix_spawn_file_actions_adddup2(&actions, pair[1], kCompileWorkerSocket);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error = posix_spawn(&worker.pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(pair[1]);
  if (error != 0) {
    worker.pid = -1;
    End(worker, false);
    return absl::NotFoundError(absl::StrCat("cannot start ", argv[0], ": ", std::strerror(error)));
  }
  ++stats_.started;
  // Set from here, so that it holds whatever the program does. It gets its first job afterwards.
  const rlimit no_core = {0, 0};
  prlimit(worker.pid, RLIMIT_CORE, &no_core, nullptr);
#ifndef UNDERSTUDY_SHADOW_MEMORY
  const rlimit memory = {options_.memory_bytes, options_.memory_bytes};
  prlimit(worker.pid, RLIMIT_AS, &memory, nullptr);
#endif
  return absl::OkStatus();
}

int CompilePool::End(Worker& worker, bool kill) {
  int status = 0;
  if (worker.pid > 0) {
    if (kill) ::kill(-worker.pid, SIGKILL);
    while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
    }
    // What it may have started.
    ::kill(-worker.pid, SIGKILL);
  }
  if (worker.socket >= 0) close(worker.socket);
  if (worker.log >= 0) close(worker.log);
  worker = Worker();
  return status;
}

void CompilePool::Give(Worker& worker, Batch& batch, size_t job) {
  if (worker.pid > 0) {
    // One that has died since its last job is replaced without a word.
    char byte;
    const ssize_t n = recv(worker.socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) End(worker, /*kill=*/true);
  }
  worker.job = job;
  worker.busy = true;
  if (worker.pid <= 0) {
    const absl::Status started = Start(worker);
    worker.job = job;
    worker.busy = true;
    if (!started.ok()) {
      Finish(
          worker, batch,
          absl::Status(started.code(), absl::StrCat(batch.What(job), ": ", std::string(started.message()))));
      return;
    }
  }
  if (ftruncate(worker.log, 0) != 0) worker.log = worker.log;  // then its tail holds older words too
  worker.out = EncodeFrame(EncodeJob(batch.kernel, batch.target, batch.candidates[job], options_.seconds));
  worker.in.clear();
  worker.end = Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds));
}

bool CompilePool::Write(Worker& worker) {
  while (!worker.out.empty()) {
    const ssize_t n = send(worker.socket, worker.out.data(), worker.out.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    worker.out.erase(0, static_cast<size_t>(n));
  }
  return true;
}

bool CompilePool::Read(Worker& worker) {
  char chunk[1 << 16];
  for (;;) {
    const ssize_t n = recv(worker.socket, chunk, sizeof(chunk), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (n == 0) return false;
    worker.in.append(chunk, static_cast<size_t>(n));
  }
}

void CompilePool::Finish(Worker& worker, Batch& batch, absl::StatusOr<CompiledKernel> answer) {
  batch.answers[worker.job] = std::move(answer);
  worker.busy = false;
  ++batch.done;
}

void CompilePool::Died(Worker& worker, Batch& batch, bool late) {
  const size_t job = worker.job;
  const std::string what = batch.What(job);
  // Dead or about to be: whoever closed the socket and lives is ended too.
  const int log = std::exchange(worker.log, -1);
  if (!late) {
    // Its own end says more than ours would.
    const auto until = Clock::now() + std::chrono::milliseconds(500);
    siginfo_t info = {};
    while (Clock::now() < until &&
           waitid(P_PID, static_cast<id_t>(worker.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  const int status = End(worker, /*kill=*/true);
  const std::string words = Tail(log);
  close(log);
  const std::string said = words.empty() ? "" : absl::StrCat("; it said: ", words);
  absl::Status answer;
  if (late) {
    ++stats_.timed_out;
    answer =
        absl::DeadlineExceededError(absl::StrCat(what, ": not done after ", options_.seconds, " s", said));
  } else if (WIFEXITED(status)) {
    if (WEXITSTATUS(status) == kCompileWorkerOutOfMemory) {
      ++stats_.out_of_memory;
      answer = absl::ResourceExhaustedError(
          absl::StrCat(what, ": more than ", options_.memory_bytes, " bytes of memory", said));
    } else {
      ++stats_.crashed;
      answer =
          absl::AbortedError(absl::StrCat(what, ": the compiler exited with ", WEXITSTATUS(status), said));
    }
  } else {
    const int signal = WTERMSIG(status);
    // LLVM reports a failed allocation and aborts; the system's own killer uses SIGKILL.
    const bool memory = signal == SIGKILL || absl::StrContains(words, "out of memory") ||
                        absl::StrContains(words, "bad_alloc");
    ++(memory ? stats_.out_of_memory : stats_.crashed);
    const std::string text =
        absl::StrCat(what, ": the compiler was ended by signal ", signal, " (", strsignal(signal), ")", said);
    answer = memory ? absl::ResourceExhaustedError(text) : absl::AbortedError(text);
  }
  batch.answers[job] = std::move(answer);
  ++batch.done;
}

std::vector<absl::StatusOr<CompiledKernel>> CompilePool::Compile(const UOpRef& kernel, const Target& target,
                                                                 absl::Span<const ChoiceList> candidates) {
  std::lock_guard lock(mutex_);
  Batch batch;
  batch.kernel = uop::Print(kernel);
  batch.target = TargetText(target);
  const auto* arg = std::get_if<KernelArg>(&kernel->arg());
  batch.name = arg == nullptr || arg->name.empty() ? "kernel" : arg->name;
  batch.candidates = candidates;
  batch.answers.resize(candidates.size(), absl::StatusOr<CompiledKernel>(absl::UnknownError("not compiled")));
  size_t next = 0;
  while (batch.done < candidates.size()) {
    for (auto& w : workers_) {
      if (!w->busy && next < candidates.size()) Give(*w, batch, next++);
    }
    std::vector<pollfd> polled;
    std::vector<Worker*> of;
    auto end = Clock::time_point::max();
    for (auto& w : workers_) {
      if (!w->busy) continue;
      polled.push_back({w->socket, static_cast<short>(POLLIN | (w->out.empty() ? 0 : POLLOUT)), 0});
      of.push_back(w.get());
      end = std::min(end, w->end);
    }
    if (of.empty()) continue;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    poll(polled.data(), polled.size(), static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)));
    for (size_t i = 0; i < of.size(); ++i) {
      Worker& w = *of[i];
      bool alive = true;
      if (polled[i].revents & POLLOUT) alive = Write(w);
      // What it has answered counts, even if it died afterwards.
      if (polled[i].revents & (POLLIN | POLLHUP | POLLERR)) alive = Read(w) && alive;
      auto frame = TakeFrame(&w.in);
      if (!frame.ok()) {
        Finish(w, batch,
               absl::Status(frame.status().code(),
                            absl::StrCat(batch.What(w.job), ": ", std::string(frame.status().message()))));
        ++stats_.crashed;
        End(w, /*kill=*/true);
      } else if (frame->has_value()) {
        auto answer = DecodeAnswer(**frame);
        ++(answer.ok() ? stats_.compiled : stats_.refused);
        Finish(w, batch, std::move(answer));
        if (!alive) End(w, /*kill=*/true);
      } else if (!alive) {
        Died(w, batch, /*late=*/false);
      } else if (Clock::now() >= w.end) {
        Died(w, batch, /*late=*/true);
      }
    }
  }
  return std::move(batch.answers);
}

}  // namespace understudy
