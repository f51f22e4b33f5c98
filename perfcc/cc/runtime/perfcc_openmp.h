/* perfcc run-time: OpenMP without a link-time dependency.
 *
 * An object that perfcc rewrote must link with whatever link line its user has. So each call of the OpenMP run-time that the
 * compiler generated is renamed, in the object, from NAME to perfcc_rt_NAME. These shims look for the OpenMP library when the first
 * region starts, and run the region on the calling thread if there is none. They are weak and hidden: one copy remains for
 * each executable or shared library, and nothing is exported.
 *
 * Text for the top of any C or C++ source: no #include, C89 and C++98, libc functions through weak references only (a weakref leaves the
 * user's own references as strong as they were). The atomic operations are compiler built-ins.
 */
#ifndef PERFCC_OPENMP_H
#define PERFCC_OPENMP_H

#ifdef __cplusplus
extern "C" {
#endif

#define PERFCC_RT_SHIM __attribute__((__weak__, __visibility__("hidden"), __noinline__, __cold__))
#define PERFCC_RT_HELPER static __attribute__((__noinline__, __cold__))
#define PERFCC_RT_SLOTS 64
#define PERFCC_RT_LOAD(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
#define PERFCC_RT_STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)

typedef unsigned perfcc_rt_ull __attribute__((__mode__(__DI__)));
typedef void (*perfcc_rt_function)(void);
typedef void (*perfcc_rt_body)(void *);

static void *perfcc_rt_dlsym(void *, const char *) __attribute__((__weakref__("dlsym")));
static int *perfcc_rt_errno_place(void) __attribute__((__weakref__("__errno_location")));
static int perfcc_rt_getpid(void) __attribute__((__weakref__("getpid")));

/* One thread that runs a region alone: its pending iterations, which the first "next" of a loop hands out as one chunk. */
struct perfcc_rt_slot {
  void *thread;
  int depth;
  int pending;
  long start, end;
};

/* owner: the process that looked for the library; negative while it is looking; 0 before. born: the process that loaded this code. */
struct perfcc_rt_state {
  int owner;
  int born;
  int serial;
  void *library;
  struct perfcc_rt_slot slots[PERFCC_RT_SLOTS];
};

extern struct perfcc_rt_state perfcc_rt_state_1;
struct perfcc_rt_state perfcc_rt_state_1 __attribute__((__weak__, __visibility__("hidden"))) = {0, 0, 0, 0, {{0, 0, 0, 0, 0}}};

PERFCC_RT_HELPER perfcc_rt_function perfcc_rt_symbol(void *library, const char *name) {
  union {
    void *object;
    perfcc_rt_function function;
  } found;
  found.object = perfcc_rt_dlsym(library, name);
  return found.function;
}

PERFCC_RT_HELPER int perfcc_rt_process(void) { return perfcc_rt_getpid ? perfcc_rt_getpid() : 1; }

static void perfcc_rt_record(void) __attribute__((__constructor__));
static void perfcc_rt_record(void) { perfcc_rt_state_1.born = perfcc_rt_process(); }

/* True unless the kernel says that this process began by exec: the flag PF_FORKNOEXEC, field 9 of /proc/self/stat (proc(5)). */
PERFCC_RT_HELPER int perfcc_rt_forked(void) {
  typedef int (*open_type)(const char *, int, ...);
  typedef long (*read_type)(int, void *, unsigned long);
  typedef int (*close_type)(int);
  open_type open_file = (open_type)perfcc_rt_symbol(0, "open");
  read_type read_file = (read_type)perfcc_rt_symbol(0, "read");
  close_type close_file = (close_type)perfcc_rt_symbol(0, "close");
  char text[512];
  unsigned long flags = 0;
  long length, at, field = 2;
  int file;
  if (!open_file || !read_file || !close_file)
    return 1;
  file = open_file("/proc/self/stat", 02000000 /* O_RDONLY | O_CLOEXEC */);
  if (file < 0)
    return 1;
  length = read_file(file, text, sizeof text);
  close_file(file);
  for (at = length - 1; at >= 0 && text[at] != ')'; --at) {
  }
  if (at < 0)
    return 1;
  for (++at; at < length && field < 9; ++at)
    field += text[at] == ' ';
  for (; at < length && text[at] >= '0' && text[at] <= '9'; ++at)
    flags = flags * 10 + (unsigned long)(text[at] - '0');
  return field != 9 || (flags & 0x40) != 0;
}

/* The library, or 0 where its threads can't be used: a static program, no library, or a forked child of a process that may have had a team. */
PERFCC_RT_HELPER void *perfcc_rt_find_library(int inherited) {
  typedef void *(*dlopen_type)(const char *, int);
  const int lazy = 1, now = 2, no_load = 4;
  dlopen_type open_library = (dlopen_type)perfcc_rt_symbol(0, "dlopen");
  void *library;
  if (!open_library)
    return 0;
  if (perfcc_rt_symbol(0, "GOMP_parallel"))
    library = open_library(0, lazy);
  else
    library = open_library("libgomp.so.1", now | no_load);
  if (library)
    return inherited || perfcc_rt_forked() ? 0 : library;
  return open_library("libgomp.so.1", now);
}

/* True when regions may start threads in this process. False also while another thread is looking: waiting for it inside a
 * constructor that the dynamic linker runs could deadlock. */
PERFCC_RT_HELPER int perfcc_rt_ready(void) {
  struct perfcc_rt_state *state = &perfcc_rt_state_1;
  int process, owner;
  if (!perfcc_rt_dlsym)
    return 0;
  process = perfcc_rt_process();
  owner = PERFCC_RT_LOAD(state->owner);
  if (owner != process) {
    if (owner == -process || !__atomic_compare_exchange_n(&state->owner, &owner, -process, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return 0;
    PERFCC_RT_STORE(state->library, perfcc_rt_find_library(owner != 0 || state->born != process));
    PERFCC_RT_STORE(state->owner, process);
  }
  return PERFCC_RT_LOAD(state->library) != 0;
}

static void *perfcc_rt_thread(void) { return perfcc_rt_errno_place ? (void *)perfcc_rt_errno_place() : (void *)&perfcc_rt_state_1; }

/* The slot of the calling thread, 0 unless it runs a region alone. */
PERFCC_RT_HELPER struct perfcc_rt_slot *perfcc_rt_mine(void) {
  struct perfcc_rt_state *state = &perfcc_rt_state_1;
  void *thread;
  int i;
  if (PERFCC_RT_LOAD(state->serial) == 0)
    return 0;
  thread = perfcc_rt_thread();
  for (i = 0; i < PERFCC_RT_SLOTS; ++i)
    if (PERFCC_RT_LOAD(state->slots[i].thread) == thread)
      return &state->slots[i];
  return 0;
}

/* Runs a region on the calling thread alone. */
PERFCC_RT_HELPER void perfcc_rt_alone(perfcc_rt_body body, void *data, int pending, long start, long end) {
  struct perfcc_rt_state *state = &perfcc_rt_state_1;
  struct perfcc_rt_slot *slot;
  __atomic_add_fetch(&state->serial, 1, __ATOMIC_ACQ_REL);
  slot = perfcc_rt_mine();
  if (!slot) {
    void *thread = perfcc_rt_thread();
    int i = 0;
    void *nobody = 0;
    while (!__atomic_compare_exchange_n(&state->slots[i].thread, &nobody, thread, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      nobody = 0;
      i = (i + 1) % PERFCC_RT_SLOTS;
    }
    slot = &state->slots[i];
    slot->depth = 0;
  }
  ++slot->depth;
  slot->pending = pending;
  slot->start = start;
  slot->end = end;
  body(data);
  if (--slot->depth == 0)
    PERFCC_RT_STORE(slot->thread, (void *)0);
  __atomic_sub_fetch(&state->serial, 1, __ATOMIC_ACQ_REL);
}

/* The library's function; 0 when the calling thread runs a region alone, or there is no library. */
PERFCC_RT_HELPER perfcc_rt_function perfcc_rt_inside(perfcc_rt_function *cache, const char *name) {
  perfcc_rt_function function;
  if (perfcc_rt_mine())
    return 0;
  function = __atomic_load_n(cache, __ATOMIC_ACQUIRE);
  if (!function && perfcc_rt_ready()) {
    function = perfcc_rt_symbol(PERFCC_RT_LOAD(perfcc_rt_state_1.library), name);
    __atomic_store_n(cache, function, __ATOMIC_RELEASE);
  }
  return function;
}

/* The same where a region starts: a forked child must not use the function its parent found. */
PERFCC_RT_HELPER perfcc_rt_function perfcc_rt_starting(perfcc_rt_function *cache, const char *name) {
  return perfcc_rt_ready() ? perfcc_rt_inside(cache, name) : 0;
}

/* ---- regions ---- */

PERFCC_RT_SHIM void perfcc_rt_GOMP_parallel(perfcc_rt_body body, void *data, unsigned threads, unsigned flags);
void perfcc_rt_GOMP_parallel(perfcc_rt_body body, void *data, unsigned threads, unsigned flags) {
  static perfcc_rt_function cache;
  perfcc_rt_function found = perfcc_rt_starting(&cache, "GOMP_parallel");
  if (found)
    ((void (*)(perfcc_rt_body, void *, unsigned, unsigned))found)(body, data, threads, flags);
  else
    perfcc_rt_alone(body, data, 0, 0, 0);
}

/* Loops whose iterations are handed out by the library: left out of units whose regions divide theirs by themselves. */
#ifdef PERFCC_RT_LOOPS

PERFCC_RT_HELPER unsigned char perfcc_rt_take(long *start, long *end) {
  struct perfcc_rt_slot *slot = perfcc_rt_mine();
  if (!slot || !slot->pending)
    return 0;
  slot->pending = 0;
  *start = slot->start;
  *end = slot->end;
  return 1;
}

#define PERFCC_RT_PARALLEL_LOOP(kind)                                                                                            \
  PERFCC_RT_SHIM void perfcc_rt_GOMP_parallel_loop_##kind(perfcc_rt_body, void *, unsigned, long, long, long, long, unsigned);    \
  void perfcc_rt_GOMP_parallel_loop_##kind(perfcc_rt_body body, void *data, unsigned threads, long start, long end, long step,    \
                                           long chunk, unsigned flags) {                                                         \
    static perfcc_rt_function cache;                                                                                             \
    perfcc_rt_function found = perfcc_rt_starting(&cache, "GOMP_parallel_loop_" #kind);                                          \
    if (found)                                                                                                                   \
      ((void (*)(perfcc_rt_body, void *, unsigned, long, long, long, long, unsigned))found)(body, data, threads, start, end,     \
                                                                                            step, chunk, flags);                 \
    else                                                                                                                         \
      perfcc_rt_alone(body, data, step > 0 ? start < end : start > end, start, end);                                             \
  }

#define PERFCC_RT_PARALLEL_LOOP_RUNTIME(kind)                                                                                    \
  PERFCC_RT_SHIM void perfcc_rt_GOMP_parallel_loop_##kind(perfcc_rt_body, void *, unsigned, long, long, long, unsigned);          \
  void perfcc_rt_GOMP_parallel_loop_##kind(perfcc_rt_body body, void *data, unsigned threads, long start, long end, long step,    \
                                           unsigned flags) {                                                                     \
    static perfcc_rt_function cache;                                                                                             \
    perfcc_rt_function found = perfcc_rt_starting(&cache, "GOMP_parallel_loop_" #kind);                                          \
    if (found)                                                                                                                   \
      ((void (*)(perfcc_rt_body, void *, unsigned, long, long, long, unsigned))found)(body, data, threads, start, end, step,     \
                                                                                      flags);                                    \
    else                                                                                                                         \
      perfcc_rt_alone(body, data, step > 0 ? start < end : start > end, start, end);                                             \
  }

PERFCC_RT_PARALLEL_LOOP(static)
PERFCC_RT_PARALLEL_LOOP(dynamic)
PERFCC_RT_PARALLEL_LOOP(guided)
PERFCC_RT_PARALLEL_LOOP(nonmonotonic_dynamic)
PERFCC_RT_PARALLEL_LOOP(nonmonotonic_guided)
PERFCC_RT_PARALLEL_LOOP_RUNTIME(runtime)
PERFCC_RT_PARALLEL_LOOP_RUNTIME(nonmonotonic_runtime)
PERFCC_RT_PARALLEL_LOOP_RUNTIME(maybe_nonmonotonic_runtime)

/* ---- loops inside a region ---- */

#define PERFCC_RT_NEXT(kind)                                                                                                     \
  PERFCC_RT_SHIM unsigned char perfcc_rt_GOMP_loop_##kind##_next(long *, long *);                                                 \
  unsigned char perfcc_rt_GOMP_loop_##kind##_next(long *start, long *end) {                                                      \
    static perfcc_rt_function cache;                                                                                             \
    perfcc_rt_function found = perfcc_rt_inside(&cache, "GOMP_loop_" #kind "_next");                                             \
    return found ? ((unsigned char (*)(long *, long *))found)(start, end) : perfcc_rt_take(start, end);                          \
  }                                                                                                                              \
  PERFCC_RT_SHIM unsigned char perfcc_rt_GOMP_loop_ull_##kind##_next(perfcc_rt_ull *, perfcc_rt_ull *);                           \
  unsigned char perfcc_rt_GOMP_loop_ull_##kind##_next(perfcc_rt_ull *start, perfcc_rt_ull *end) {                                \
    static perfcc_rt_function cache;                                                                                             \
    perfcc_rt_function found = perfcc_rt_inside(&cache, "GOMP_loop_ull_" #kind "_next");                                         \
    return found ? ((unsigned char (*)(perfcc_rt_ull *, perfcc_rt_ull *))found)(start, end) : (unsigned char)0;                  \
  }

#define PERFCC_RT_START(kind)                                                                                                    \
  PERFCC_RT_SHIM unsigned char perfcc_rt_GOMP_loop_##kind##_start(long, long, long, long, long *, long *);                        \
  unsigned char perfcc_rt_GOMP_loop_##kind##_start(long start, long end, long step, long chunk, long *first, long *last) {       \
    static perfcc_rt_function cache;                                                                                             \
    perfcc_rt_function found = perfcc_rt_inside(&cache, "GOMP_loop_" #kind "_start");                                            \
    if (found)                                                                                                                   \
      return ((unsigned char (*)(long, long, long, long, long *, long *))found)(start, end, step, chunk, first, last);           \
    *first = start;                                                                                                              \
    *last = end;                                                                                                                 \
    return (unsigned char)(step > 0 ? start < end : start > end);                                                                \
  }                                                                                                                              \
  PERFCC_RT_SHIM unsigned char perfcc_rt_GOMP_loop_ull_##kind##_start(unsigned char, perfcc_rt_ull, perfcc_rt_ull, perfcc_rt_ull, \
                                                                     perfcc_rt_ull, perfcc_rt_ull *, perfcc_rt_ull *);           \
  unsigned char perfcc_rt_GOMP_loop_ull_##kind##_start(unsigned char up, perfcc_rt_ull start, perfcc_rt_ull end,                 \
                                                       perfcc_rt_ull step, perfcc_rt_ull chunk, perfcc_rt_ull *first,            \
                                                       perfcc_rt_ull *last) {                                                    \
    static perfcc_rt_function cache;                                                                                             \
    perfcc_rt_function found = perfcc_rt_inside(&cache, "GOMP_loop_ull_" #kind "_start");                                        \
    if (found)                                                                                                                   \
      return ((unsigned char (*)(unsigned char, perfcc_rt_ull, perfcc_rt_ull, perfcc_rt_ull, perfcc_rt_ull, perfcc_rt_ull *,     \
                                 perfcc_rt_ull *))found)(up, start, end, step, chunk, first, last);                              \
    *first = start;                                                                                                              \
    *last = end;                                                                                                                 \
    return (unsigned char)(up ? start < end : start > end);                                                                      \
  }

#define PERFCC_RT_START_RUNTIME(kind)                                                                                            \
  PERFCC_RT_SHIM unsigned char perfcc_rt_GOMP_loop_##kind##_start(long, long, long, long *, long *);                              \
  unsigned char perfcc_rt_GOMP_loop_##kind##_start(long start, long end, long step, long *first, long *last) {                   \
    static perfcc_rt_function cache;                                                                                             \
    perfcc_rt_function found = perfcc_rt_inside(&cache, "GOMP_loop_" #kind "_start");                                            \
    if (found)                                                                                                                   \
      return ((unsigned char (*)(long, long, long, long *, long *))found)(start, end, step, first, last);                        \
    *first = start;                                                                                                              \
    *last = end;                                                                                                                 \
    return (unsigned char)(step > 0 ? start < end : start > end);                                                                \
  }                                                                                                                              \
  PERFCC_RT_SHIM unsigned char perfcc_rt_GOMP_loop_ull_##kind##_start(unsigned char, perfcc_rt_ull, perfcc_rt_ull, perfcc_rt_ull, \
                                                                     perfcc_rt_ull *, perfcc_rt_ull *);                          \
  unsigned char perfcc_rt_GOMP_loop_ull_##kind##_start(unsigned char up, perfcc_rt_ull start, perfcc_rt_ull end,                 \
                                                       perfcc_rt_ull step, perfcc_rt_ull *first, perfcc_rt_ull *last) {          \
    static perfcc_rt_function cache;                                                                                             \
    perfcc_rt_function found = perfcc_rt_inside(&cache, "GOMP_loop_ull_" #kind "_start");                                        \
    if (found)                                                                                                                   \
      return ((unsigned char (*)(unsigned char, perfcc_rt_ull, perfcc_rt_ull, perfcc_rt_ull, perfcc_rt_ull *,                    \
                                 perfcc_rt_ull *))found)(up, start, end, step, first, last);                                     \
    *first = start;                                                                                                              \
    *last = end;                                                                                                                 \
    return (unsigned char)(up ? start < end : start > end);                                                                      \
  }

PERFCC_RT_NEXT(static)
PERFCC_RT_NEXT(dynamic)
PERFCC_RT_NEXT(guided)
PERFCC_RT_NEXT(runtime)
PERFCC_RT_NEXT(nonmonotonic_dynamic)
PERFCC_RT_NEXT(nonmonotonic_guided)
PERFCC_RT_NEXT(nonmonotonic_runtime)
PERFCC_RT_NEXT(maybe_nonmonotonic_runtime)
PERFCC_RT_START(static)
PERFCC_RT_START(dynamic)
PERFCC_RT_START(guided)
PERFCC_RT_START(nonmonotonic_dynamic)
PERFCC_RT_START(nonmonotonic_guided)
PERFCC_RT_START_RUNTIME(runtime)
PERFCC_RT_START_RUNTIME(nonmonotonic_runtime)
PERFCC_RT_START_RUNTIME(maybe_nonmonotonic_runtime)

#undef PERFCC_RT_PARALLEL_LOOP
#undef PERFCC_RT_PARALLEL_LOOP_RUNTIME
#undef PERFCC_RT_NEXT
#undef PERFCC_RT_START
#undef PERFCC_RT_START_RUNTIME
#undef PERFCC_RT_LOOPS
#endif

/* ---- calls without a result: nothing to do for a thread that is alone ---- */

#define PERFCC_RT_PLAIN(name)                                                                                                    \
  PERFCC_RT_SHIM void perfcc_rt_##name(void);                                                                                     \
  void perfcc_rt_##name(void) {                                                                                                  \
    static perfcc_rt_function cache;                                                                                             \
    perfcc_rt_function found = perfcc_rt_inside(&cache, #name);                                                                  \
    if (found)                                                                                                                   \
      found();                                                                                                                   \
  }

PERFCC_RT_PLAIN(GOMP_loop_end)
PERFCC_RT_PLAIN(GOMP_loop_end_nowait)
PERFCC_RT_PLAIN(GOMP_barrier)
PERFCC_RT_PLAIN(GOMP_critical_start)
PERFCC_RT_PLAIN(GOMP_critical_end)
PERFCC_RT_PLAIN(GOMP_atomic_start)
PERFCC_RT_PLAIN(GOMP_atomic_end)

/* ---- calls with a result, and the result for a thread that is alone ---- */

PERFCC_RT_SHIM unsigned char perfcc_rt_GOMP_single_start(void);
unsigned char perfcc_rt_GOMP_single_start(void) {
  static perfcc_rt_function cache;
  perfcc_rt_function found = perfcc_rt_inside(&cache, "GOMP_single_start");
  return found ? ((unsigned char (*)(void))found)() : (unsigned char)1;
}

#define PERFCC_RT_QUERY(name, find, otherwise)                                                                                   \
  PERFCC_RT_SHIM int perfcc_rt_##name(void);                                                                                      \
  int perfcc_rt_##name(void) {                                                                                                   \
    static perfcc_rt_function cache;                                                                                             \
    perfcc_rt_function found = find(&cache, #name);                                                                              \
    return found ? ((int (*)(void))found)() : (otherwise);                                                                       \
  }

PERFCC_RT_QUERY(omp_get_num_threads, perfcc_rt_inside, 1)
PERFCC_RT_QUERY(omp_get_thread_num, perfcc_rt_inside, 0)
PERFCC_RT_QUERY(omp_get_max_threads, perfcc_rt_starting, 1)
PERFCC_RT_QUERY(omp_get_num_procs, perfcc_rt_starting, 1)
PERFCC_RT_QUERY(omp_get_thread_limit, perfcc_rt_starting, 1)
PERFCC_RT_QUERY(omp_in_parallel, perfcc_rt_inside, 0)
PERFCC_RT_QUERY(omp_get_level, perfcc_rt_inside, 0)
PERFCC_RT_QUERY(omp_get_active_level, perfcc_rt_inside, 0)

#undef PERFCC_RT_SHIM
#undef PERFCC_RT_HELPER
#undef PERFCC_RT_SLOTS
#undef PERFCC_RT_LOAD
#undef PERFCC_RT_STORE
#undef PERFCC_RT_PLAIN
#undef PERFCC_RT_QUERY

#ifdef __cplusplus
}
#endif
#endif
