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
extern void *__dso_handle __attribute__((__weak__, __visibility__("hidden")));

/* One thread that runs a region alone: its pending iterations, which the first "next" of a loop hands out as one chunk. */
struct perfcc_rt_slot {
  void *thread;
  int depth;
  int pending;
  long start, end;
};

/* owner: the process that looked for the library; negative while it is looking; 0 before. born: the process that loaded this code.
 * refused: calls since threads could not be created, 0 if they could. loaded: modules ever loaded when they were last looked at, and
 * jumps: what was found in them. Keys of thread-specific data: the size of the caller's pool, and the region a thread runs; keys: they
 * exist. active: threads that may be using them; closed: no more may begin. */
struct perfcc_rt_state {
  int owner;
  int born;
  int serial;
  int refused;
  int jumps;
  int keys;
  int active;
  int closed;
  unsigned pool_key, region_key;
  perfcc_rt_ull loaded;
  void *library;
  perfcc_rt_function mask, get, set, team, most, limit, dynamic, modules, action;
  struct perfcc_rt_slot slots[PERFCC_RT_SLOTS];
};

extern struct perfcc_rt_state perfcc_rt_state_3;
struct perfcc_rt_state perfcc_rt_state_3 __attribute__((__weak__, __visibility__("hidden"))) = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {{0, 0, 0, 0, 0}}};

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
static void perfcc_rt_record(void) { perfcc_rt_state_3.born = perfcc_rt_process(); }

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

#define PERFCC_RT_MASK_WORDS (128 / sizeof(unsigned long))
#define PERFCC_RT_VARIABLES 510
typedef int (*perfcc_rt_mask_type)(int, const unsigned long *, unsigned long *);
typedef void *(*perfcc_rt_open)(const char *, int);

/* Loads the library in such a way that its threads wait for a few microseconds and then sleep. By default they spin for milliseconds, which
 * costs nothing on idle cores, and many times what the region saves where other processes want them.
 *
 * The library reads the number from the environment when it is loaded. So the environment has one variable more just then: only in a
 * process with one thread, which nobody but a signal handler could interrupt, and signals wait. What the user has set counts, and a library
 * that is there already stays as it is. */
PERFCC_RT_HELPER void *perfcc_rt_load(perfcc_rt_open open_library) {
  static char setting[] = "GOMP_SPINCOUNT=1000";
  typedef char *(*getenv_type)(const char *);
  const int now = 2, set_mask = 2; /* SIG_SETMASK */
  const char *single = (const char *)perfcc_rt_dlsym(0, "__libc_single_threaded");
  char ***environment = (char ***)perfcc_rt_dlsym(0, "environ");
  getenv_type get = (getenv_type)perfcc_rt_symbol(0, "getenv");
  perfcc_rt_mask_type mask = (perfcc_rt_mask_type)perfcc_rt_symbol(0, "sigprocmask");
  char *longer[PERFCC_RT_VARIABLES + 2], **users, **at;
  unsigned long all[PERFCC_RT_MASK_WORDS], old[PERFCC_RT_MASK_WORDS];
  unsigned count = 0, i;
  void *library;
  if (!single || !*single || !environment || environment != (char ***)perfcc_rt_dlsym(0, "__environ") || !*environment || !get || !mask)
    return open_library("libgomp.so.1", now);
  users = *environment;
  for (; users[count] && count < PERFCC_RT_VARIABLES; ++count)
    longer[count] = users[count];
  if (users[count] || get("OMP_WAIT_POLICY") || get("GOMP_SPINCOUNT"))
    return open_library("libgomp.so.1", now);
  longer[count] = setting;
  longer[count + 1] = 0;
  for (i = 0; i < PERFCC_RT_MASK_WORDS; ++i)
    all[i] = ~0ul;
  mask(set_mask, all, old);
  *environment = longer;
  library = open_library("libgomp.so.1", now);
  if (*environment == longer)
    *environment = users;
  else /* a constructor set a variable: there is a copy */
    for (at = *environment; at && *at; ++at)
      while (*at == setting)
        for (i = 0; (at[i] = at[i + 1]) != 0; ++i) {
        }
  mask(set_mask, old, 0);
  return library;
}

/* The library, or 0 where its threads can't be used: a static program, no library, or a forked child of a process that may have had a team. */
PERFCC_RT_HELPER void *perfcc_rt_find_library(int inherited) {
  const int lazy = 1, now = 2, no_load = 4;
  perfcc_rt_open open_library = (perfcc_rt_open)perfcc_rt_symbol(0, "dlopen");
  void *library;
  if (!open_library)
    return 0;
  if (perfcc_rt_symbol(0, "GOMP_parallel"))
    library = open_library(0, lazy);
  else
    library = open_library("libgomp.so.1", now | no_load);
  if (library)
    return inherited || perfcc_rt_forked() ? 0 : library;
  return perfcc_rt_load(open_library);
}

static void *perfcc_rt_thread(void) { return perfcc_rt_errno_place ? (void *)perfcc_rt_errno_place() : (void *)&perfcc_rt_state_3; }

/* ---- signals, and the end of the process, while a region runs ----
 * A thread of the pool has every signal blocked that may be sent to the process, so that the user's own threads get them as before; those
 * that a faulting instruction raises stay as they are. It inherits its mask: the caller blocks them while it starts the region, and has its
 * own mask back before its part of the region begins. */

struct perfcc_rt_region {
  perfcc_rt_body body;
  void *data;
  void *caller;
  int members;
  int finished;
  unsigned long mask[PERFCC_RT_MASK_WORDS];
};

PERFCC_RT_HELPER void perfcc_rt_block_signals(unsigned long *old) {
  const int block = 0; /* SIG_BLOCK */
  unsigned long all[PERFCC_RT_MASK_WORDS];
  unsigned i;
  for (i = 0; i < PERFCC_RT_MASK_WORDS; ++i)
    all[i] = ~0ul;
  /* SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS */
  all[0] &= ~(1ul << 3 | 1ul << 4 | 1ul << 6 | 1ul << 7 | 1ul << 10 | 1ul << 30);
  ((perfcc_rt_mask_type)perfcc_rt_state_3.mask)(block, all, old);
}

PERFCC_RT_HELPER void perfcc_rt_restore_signals(const unsigned long *old) {
  const int set = 2; /* SIG_SETMASK */
  ((perfcc_rt_mask_type)perfcc_rt_state_3.mask)(set, old, 0);
}

PERFCC_RT_HELPER void *perfcc_rt_value(unsigned key) { return ((void *(*)(unsigned))perfcc_rt_state_3.get)(key); }

PERFCC_RT_HELPER void perfcc_rt_keep(unsigned key, void *value) {
  ((int (*)(unsigned, const void *))perfcc_rt_state_3.set)(key, value);
}

/* True while a region may begin; perfcc_rt_leave must follow. Either this or the end of the module sees the other. */
PERFCC_RT_HELPER int perfcc_rt_enter(void) {
  struct perfcc_rt_state *state = &perfcc_rt_state_3;
  __atomic_add_fetch(&state->active, 1, __ATOMIC_SEQ_CST);
  if (!__atomic_load_n(&state->closed, __ATOMIC_SEQ_CST))
    return 1;
  __atomic_sub_fetch(&state->active, 1, __ATOMIC_SEQ_CST);
  return 0;
}

PERFCC_RT_HELPER void perfcc_rt_leave(void) { __atomic_sub_fetch(&perfcc_rt_state_3.active, 1, __ATOMIC_SEQ_CST); }

/* The end of the process or of the module (dlclose): from now on regions run alone, and the keys are given back unless they are in use.
 * exit() in a signal handler that interrupts the caller's part of a region: destructors must not free what other threads still work on.
 * Bounded, as the caller may hold a lock that they wait for. */
PERFCC_RT_HELPER void perfcc_rt_exiting(void *unused) {
  struct perfcc_rt_state *state = &perfcc_rt_state_3;
  struct perfcc_rt_region *region = (struct perfcc_rt_region *)perfcc_rt_value(state->region_key);
  perfcc_rt_function sleep = region ? perfcc_rt_symbol(0, "usleep") : 0;
  perfcc_rt_function drop = perfcc_rt_symbol(0, "pthread_key_delete");
  int turn;
  (void)unused;
  if (sleep && region->caller == perfcc_rt_thread() && PERFCC_RT_LOAD(perfcc_rt_state_3.owner) == perfcc_rt_process())
    for (turn = 0; turn < 50000 && PERFCC_RT_LOAD(region->finished) < region->members - 1; ++turn)
      ((int (*)(unsigned))sleep)(200);
  __atomic_store_n(&state->closed, 1, __ATOMIC_SEQ_CST);
  if (drop && state->keys && __atomic_load_n(&state->active, __ATOMIC_SEQ_CST) == 0) {
    state->keys = 0;
    ((int (*)(unsigned))drop)(state->pool_key);
    ((int (*)(unsigned))drop)(state->region_key);
  }
}

/* Each thread's part of a region. */
PERFCC_RT_HELPER void perfcc_rt_member(void *argument) {
  struct perfcc_rt_region *region = (struct perfcc_rt_region *)argument;
  void *outer = perfcc_rt_value(perfcc_rt_state_3.region_key);
  int is_caller = region->caller == perfcc_rt_thread();
  if (is_caller)
    region->members = ((int (*)(void))perfcc_rt_state_3.team)();
  perfcc_rt_keep(perfcc_rt_state_3.region_key, region);
  if (is_caller)
    perfcc_rt_restore_signals(region->mask);
  region->body(region->data);
  perfcc_rt_keep(perfcc_rt_state_3.region_key, outer);
  if (!is_caller)
    __atomic_add_fetch(&region->finished, 1, __ATOMIC_ACQ_REL);
}

/* A thread that waits for the others touches nothing. */
PERFCC_RT_HELPER void perfcc_rt_waiting(int change) {
  struct perfcc_rt_region *region = (struct perfcc_rt_region *)perfcc_rt_value(perfcc_rt_state_3.region_key);
  if (region && region->caller != perfcc_rt_thread())
    __atomic_add_fetch(&region->finished, change, __ATOMIC_ACQ_REL);
}

/* A handler that leaves a region by a jump would leave its team behind. So where some module of the process can jump and some module
 * installs handlers, regions start threads only while no handler is installed. Both are read off the modules' undefined symbols; libc's
 * own aside, which needs neither. */

struct perfcc_rt_module {
  unsigned long base;
  const char *name;
  const struct perfcc_rt_segment *segments;
  unsigned short count;
  perfcc_rt_ull loaded;
};
struct perfcc_rt_segment {
  unsigned type, flags;
  unsigned long offset, address, physical, in_file, in_memory, alignment;
};
struct perfcc_rt_entry {
  unsigned long tag, value;
};
struct perfcc_rt_elf_symbol {
  unsigned name;
  unsigned char info, other;
  unsigned short section;
  unsigned long value, size;
};

#define PERFCC_RT_JUMPS 1
#define PERFCC_RT_HANDLES 2

PERFCC_RT_HELPER int perfcc_rt_one_of(const char *name, const char *words) {
  int i;
  while (*words) {
    for (i = 0; name[i] && name[i] == words[i]; ++i) {
    }
    if (!name[i] && words[i] == ' ')
      return 1;
    while (*words++ != ' ') {
    }
  }
  return 0;
}

PERFCC_RT_HELPER int perfcc_rt_first_module(void *module, unsigned long size, void *loaded) {
  (void)size;
  *(perfcc_rt_ull *)loaded = ((struct perfcc_rt_module *)module)->loaded;
  return 1;
}

PERFCC_RT_HELPER int perfcc_rt_look_at(void *argument, unsigned long size, void *found) {
  const struct perfcc_rt_module *module = (const struct perfcc_rt_module *)argument;
  const struct perfcc_rt_entry *entry = 0;
  unsigned long symbols = 0, strings = 0, hash = 0, old_hash = 0, *place;
  unsigned i, count;
  (void)size;
  for (i = 0; i < module->count; ++i)
    if (module->segments[i].type == 2 /* PT_DYNAMIC */)
      entry = (const struct perfcc_rt_entry *)(module->base + module->segments[i].address);
  if (!entry)
    return 0;
  for (; entry->tag; ++entry) {
    place = entry->tag == 4 ? &old_hash : entry->tag == 5 ? &strings : entry->tag == 6 ? &symbols : entry->tag == 0x6ffffef5 ? &hash : 0;
    if (place)
      *place = entry->value < module->base ? entry->value + module->base : entry->value;
  }
  if (!symbols || !strings)
    return 0;
  /* A GNU hash table leaves out the undefined symbols, which come first; the older table counts all. */
  count = hash ? ((const unsigned *)hash)[1] : old_hash ? ((const unsigned *)old_hash)[1] : 0;
  if (!count)
    *(int *)found = PERFCC_RT_JUMPS | PERFCC_RT_HANDLES;
  for (i = 1; i < count; ++i) {
    const struct perfcc_rt_elf_symbol *symbol = (const struct perfcc_rt_elf_symbol *)symbols + i;
    const char *name = (const char *)strings + symbol->name;
    if (symbol->section)
      continue;
    if (perfcc_rt_one_of(name, "longjmp _longjmp siglongjmp __longjmp_chk setcontext swapcontext "))
      *(int *)found |= PERFCC_RT_JUMPS;
    if (perfcc_rt_one_of(name, "sigaction __sigaction signal bsd_signal ssignal sysv_signal __sysv_signal sigset sigvec "))
      *(int *)found |= PERFCC_RT_HANDLES;
  }
  return 0;
}

PERFCC_RT_HELPER int perfcc_rt_handler_may_jump(void) {
  typedef int (*each_type)(int (*)(void *, unsigned long, void *), void *);
  struct perfcc_rt_state *state = &perfcc_rt_state_3;
  each_type each = (each_type)state->modules;
  perfcc_rt_ull loaded = 0;
  void *actions[64];
  int number, found = 0;
  if (sizeof(void *) != 8)
    return 1;
  each(perfcc_rt_first_module, &loaded);
  if (loaded != PERFCC_RT_LOAD(state->loaded)) {
    each(perfcc_rt_look_at, &found);
    PERFCC_RT_STORE(state->jumps, found);
    PERFCC_RT_STORE(state->loaded, loaded);
  }
  if (PERFCC_RT_LOAD(state->jumps) != (PERFCC_RT_JUMPS | PERFCC_RT_HANDLES))
    return 0;
  for (number = 1; number <= 64; ++number)
    if (((int (*)(int, const void *, void *))state->action)(number, 0, actions) == 0 && (unsigned long)actions[0] > 1 /* SIG_DFL, SIG_IGN */)
      return 1;
  return 0;
}

/* ---- threads that can't be created ----
 * The library ends the process when it can't create a thread. So as many threads as it will create, with its stack size, are created
 * first, all alive at once, and ended again; if that fails, regions run alone. */

struct perfcc_rt_probe {
  perfcc_rt_function lock, unlock, call;
  unsigned long gate[16]; /* a pthread_mutex_t, held until every thread exists */
  int next;
  int tids[1];
};

#if defined(__x86_64__)
#define PERFCC_RT_GETTID 186
#define PERFCC_RT_TGKILL 234
#else
#define PERFCC_RT_GETTID 178
#define PERFCC_RT_TGKILL 131
#endif

PERFCC_RT_HELPER void *perfcc_rt_probing(void *argument) {
  struct perfcc_rt_probe *probe = (struct perfcc_rt_probe *)argument;
  int place = __atomic_fetch_add(&probe->next, 1, __ATOMIC_ACQ_REL);
  PERFCC_RT_STORE(probe->tids[place], (int)((long (*)(long, ...))probe->call)(PERFCC_RT_GETTID));
  ((int (*)(void *))probe->lock)(probe->gate);
  ((int (*)(void *))probe->unlock)(probe->gate);
  return 0;
}

/* The stack size that the environment gives the library's threads, 0 for the default. */
PERFCC_RT_HELPER unsigned long perfcc_rt_stack_size(void) {
  typedef char *(*getenv_type)(const char *);
  getenv_type get = (getenv_type)perfcc_rt_symbol(0, "getenv");
  const char *text = get ? get("OMP_STACKSIZE") : 0;
  unsigned long size = 0;
  int shift = 10;
  if (get && !text)
    text = get("GOMP_STACKSIZE");
  if (!text)
    return 0;
  while (*text == ' ' || *text == '\t')
    ++text;
  for (; *text >= '0' && *text <= '9' && size < 1ul << 40; ++text)
    size = size * 10 + (unsigned long)(*text - '0');
  while (*text == ' ' || *text == '\t')
    ++text;
  if (*text)
    shift = (*text | 32) == 'b' ? 0 : (*text | 32) == 'm' ? 20 : (*text | 32) == 'g' ? 30 : 10;
  return size << shift;
}

/* True when that many more threads can be created. When it returns, the kernel has forgotten those it created. */
PERFCC_RT_HELPER int perfcc_rt_can_create(int count) {
  typedef int (*create_type)(unsigned long *, const void *, void *(*)(void *), void *);
  typedef int (*join_type)(unsigned long, void **);
  typedef int (*attribute_type)(void *);
  typedef int (*size_type)(void *, unsigned long);
  typedef long (*call_type)(long, ...);
  void *library = PERFCC_RT_LOAD(perfcc_rt_state_3.library);
  create_type create = (create_type)perfcc_rt_symbol(library, "pthread_create");
  join_type join = (join_type)perfcc_rt_symbol(library, "pthread_join");
  attribute_type begin = (attribute_type)perfcc_rt_symbol(library, "pthread_attr_init");
  attribute_type finish = (attribute_type)perfcc_rt_symbol(library, "pthread_attr_destroy");
  size_type set_size = (size_type)perfcc_rt_symbol(library, "pthread_attr_setstacksize");
  perfcc_rt_function lock = perfcc_rt_symbol(library, "pthread_mutex_lock");
  perfcc_rt_function unlock = perfcc_rt_symbol(library, "pthread_mutex_unlock");
  perfcc_rt_function call = perfcc_rt_symbol(library, "syscall");
  perfcc_rt_function sleep = perfcc_rt_symbol(library, "usleep");
  perfcc_rt_function allocate = perfcc_rt_symbol(library, "calloc");
  perfcc_rt_function release = perfcc_rt_symbol(library, "free");
  unsigned long old[PERFCC_RT_MASK_WORDS], attributes[32], size = perfcc_rt_stack_size(), *threads;
  struct perfcc_rt_probe *probe;
  int created = 0, i, turn, good;
  if (!create || !join || !begin || !finish || !set_size || !lock || !unlock || !call || !sleep || !allocate || !release)
    return 0;
  probe = (struct perfcc_rt_probe *)((void *(*)(unsigned long, unsigned long))allocate)(
      1, sizeof *probe + (unsigned long)count * (sizeof(int) + sizeof *threads) + sizeof *threads);
  if (!probe)
    return 0;
  threads = (unsigned long *)((char *)(probe + 1) + ((unsigned long)count * sizeof(int) + 7) / 8 * 8);
  probe->lock = lock;
  probe->unlock = unlock;
  probe->call = call;
  if (begin(attributes) == 0) {
    if (size)
      set_size(attributes, size);
    perfcc_rt_block_signals(old);
    ((int (*)(void *))lock)(probe->gate);
    while (created < count && create(&threads[created], attributes, perfcc_rt_probing, probe) == 0)
      ++created;
    ((int (*)(void *))unlock)(probe->gate);
    perfcc_rt_restore_signals(old);
    finish(attributes);
  }
  good = created == count;
  for (i = 0; i < created; ++i)
    join(threads[i], 0);
  /* A thread counts against the limits until the kernel has released it, a little after it can be joined. */
  for (i = 0; i < created; ++i)
    for (turn = 0; turn < 1000 && ((call_type)call)(PERFCC_RT_TGKILL, perfcc_rt_process(), probe->tids[i], 0) == 0; ++turn)
      ((int (*)(unsigned))sleep)(50);
  ((void (*)(void *))release)(probe);
  return good;
}

/* True when a team of that many threads may be started by the caller, whose pool then has that size. */
PERFCC_RT_HELPER int perfcc_rt_enough(int members) {
  struct perfcc_rt_state *state = &perfcc_rt_state_3;
  long pool = (long)perfcc_rt_value(state->pool_key);
  int *place = perfcc_rt_errno_place(), old = *place, refused, limit;
  if (members < 2)
    return 1;
  limit = ((int (*)(void))state->limit)();
  members = members < limit ? members : limit;
  if (members > pool) {
    refused = PERFCC_RT_LOAD(state->refused);
    if (refused & 1023) {
      PERFCC_RT_STORE(state->refused, refused + 1);
      return 0;
    }
    if (!perfcc_rt_can_create(members - (pool ? (int)pool : 1))) {
      PERFCC_RT_STORE(state->refused, 1);
      *place = old;
      return 0;
    }
    PERFCC_RT_STORE(state->refused, 0);
    *place = old;
  }
  if (members != pool)
    perfcc_rt_keep(state->pool_key, (void *)(long)members);
  return 1;
}

/* Finds what regions need beside the library; 0 without it. */
PERFCC_RT_HELPER void *perfcc_rt_prepare(void *library) {
  struct perfcc_rt_state *state = &perfcc_rt_state_3;
  perfcc_rt_function make_key, at_exit;
  if (!library)
    return 0;
  make_key = perfcc_rt_symbol(library, "pthread_key_create");
  at_exit = perfcc_rt_symbol(library, "__cxa_atexit");
  state->mask = perfcc_rt_symbol(library, "pthread_sigmask");
  state->get = perfcc_rt_symbol(library, "pthread_getspecific");
  state->set = perfcc_rt_symbol(library, "pthread_setspecific");
  state->team = perfcc_rt_symbol(library, "omp_get_num_threads");
  state->most = perfcc_rt_symbol(library, "omp_get_max_threads");
  state->limit = perfcc_rt_symbol(library, "omp_get_thread_limit");
  state->dynamic = perfcc_rt_symbol(library, "omp_get_dynamic");
  state->modules = perfcc_rt_symbol(library, "dl_iterate_phdr");
  state->action = perfcc_rt_symbol(library, "sigaction");
  if (!make_key || !at_exit || !state->mask || !state->get || !state->set || !state->modules || !state->action)
    return 0;
  if (!state->team || !state->most || !state->limit || !state->dynamic)
    return 0;
  if (((int (*)(unsigned *, void *))make_key)(&state->pool_key, 0) || ((int (*)(unsigned *, void *))make_key)(&state->region_key, 0))
    return 0;
  state->keys = 1;
  if (((int (*)(void (*)(void *), void *, void *))at_exit)(perfcc_rt_exiting, 0, &__dso_handle))
    return 0;
  return library;
}
/* True when regions may start threads in this process. False also while another thread is looking: waiting for it inside a
 * constructor that the dynamic linker runs could deadlock. */
PERFCC_RT_HELPER int perfcc_rt_ready(void) {
  struct perfcc_rt_state *state = &perfcc_rt_state_3;
  int process, owner;
  if (!perfcc_rt_dlsym || !perfcc_rt_errno_place)
    return 0;
  process = perfcc_rt_process();
  owner = PERFCC_RT_LOAD(state->owner);
  if (owner != process) {
    if (owner == -process || !__atomic_compare_exchange_n(&state->owner, &owner, -process, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return 0;
    PERFCC_RT_STORE(state->library, perfcc_rt_prepare(perfcc_rt_find_library(owner != 0 || state->born != process)));
    PERFCC_RT_STORE(state->owner, process);
  }
  return PERFCC_RT_LOAD(state->library) != 0;
}

/* The slot of the calling thread, 0 unless it runs a region alone. */
PERFCC_RT_HELPER struct perfcc_rt_slot *perfcc_rt_mine(void) {
  struct perfcc_rt_state *state = &perfcc_rt_state_3;
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
  struct perfcc_rt_state *state = &perfcc_rt_state_3;
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
    function = perfcc_rt_symbol(PERFCC_RT_LOAD(perfcc_rt_state_3.library), name);
    __atomic_store_n(cache, function, __ATOMIC_RELEASE);
  }
  return function;
}

/* The same where a region starts: a forked child must not use the function its parent found. */
PERFCC_RT_HELPER perfcc_rt_function perfcc_rt_starting(perfcc_rt_function *cache, const char *name) {
  return perfcc_rt_ready() ? perfcc_rt_inside(cache, name) : 0;
}

/* ---- regions ---- */

/* The library's function for a team that the caller may start now; 0 to run alone. Opens the region: signals are blocked until the caller's
 * part begins. perfcc_rt_leave must follow the call. */
PERFCC_RT_HELPER perfcc_rt_function perfcc_rt_opening(perfcc_rt_function *cache, const char *name, struct perfcc_rt_region *region,
                                                      perfcc_rt_body body, void *data, unsigned threads) {
  perfcc_rt_function found = perfcc_rt_starting(cache, name);
  if (!found || !perfcc_rt_enter())
    return 0;
  if (!perfcc_rt_enough(threads ? (int)threads : ((int (*)(void))perfcc_rt_state_3.most)())) {
    perfcc_rt_leave();
    return 0;
  }
  region->body = body;
  region->data = data;
  region->caller = perfcc_rt_thread();
  region->members = 1;
  region->finished = 0;
  perfcc_rt_block_signals(region->mask);
  return found;
}

PERFCC_RT_SHIM void perfcc_rt_GOMP_parallel(perfcc_rt_body body, void *data, unsigned threads, unsigned flags);
void perfcc_rt_GOMP_parallel(perfcc_rt_body body, void *data, unsigned threads, unsigned flags) {
  static perfcc_rt_function cache;
  struct perfcc_rt_region region;
  perfcc_rt_function found = perfcc_rt_opening(&cache, "GOMP_parallel", &region, body, data, threads);
  if (found) {
    ((void (*)(perfcc_rt_body, void *, unsigned, unsigned))found)(perfcc_rt_member, &region, threads, flags);
    perfcc_rt_leave();
  } else
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
    struct perfcc_rt_region region;                                                                                              \
    perfcc_rt_function found = perfcc_rt_opening(&cache, "GOMP_parallel_loop_" #kind, &region, body, data, threads);             \
    if (found) {                                                                                                                 \
      ((void (*)(perfcc_rt_body, void *, unsigned, long, long, long, long, unsigned))found)(perfcc_rt_member, &region, threads, start, end,     \
                                                                                            step, chunk, flags);                 \
      perfcc_rt_leave();                                                                                                        \
    } else                                                                                                                      \
      perfcc_rt_alone(body, data, step > 0 ? start < end : start > end, start, end);                                             \
  }

#define PERFCC_RT_PARALLEL_LOOP_RUNTIME(kind)                                                                                    \
  PERFCC_RT_SHIM void perfcc_rt_GOMP_parallel_loop_##kind(perfcc_rt_body, void *, unsigned, long, long, long, unsigned);          \
  void perfcc_rt_GOMP_parallel_loop_##kind(perfcc_rt_body body, void *data, unsigned threads, long start, long end, long step,    \
                                           unsigned flags) {                                                                     \
    static perfcc_rt_function cache;                                                                                             \
    struct perfcc_rt_region region;                                                                                              \
    perfcc_rt_function found = perfcc_rt_opening(&cache, "GOMP_parallel_loop_" #kind, &region, body, data, threads);             \
    if (found) {                                                                                                                 \
      ((void (*)(perfcc_rt_body, void *, unsigned, long, long, long, unsigned))found)(perfcc_rt_member, &region, threads, start, end, step,     \
                                                                                      flags);                                    \
      perfcc_rt_leave();                                                                                                        \
    } else                                                                                                                      \
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

#define PERFCC_RT_PLAIN(name, waits)                                                                                             \
  PERFCC_RT_SHIM void perfcc_rt_##name(void);                                                                                    \
  void perfcc_rt_##name(void) {                                                                                                  \
    static perfcc_rt_function cache;                                                                                             \
    perfcc_rt_function found = perfcc_rt_inside(&cache, #name);                                                                  \
    if (!found)                                                                                                                  \
      return;                                                                                                                    \
    if (waits)                                                                                                                   \
      perfcc_rt_waiting(1);                                                                                                      \
    found();                                                                                                                     \
    if (waits)                                                                                                                   \
      perfcc_rt_waiting(-1);                                                                                                     \
  }

PERFCC_RT_PLAIN(GOMP_loop_end, 1)
PERFCC_RT_PLAIN(GOMP_loop_end_nowait, 0)
PERFCC_RT_PLAIN(GOMP_barrier, 1)
PERFCC_RT_PLAIN(GOMP_critical_start, 0)
PERFCC_RT_PLAIN(GOMP_critical_end, 0)
PERFCC_RT_PLAIN(GOMP_atomic_start, 0)
PERFCC_RT_PLAIN(GOMP_atomic_end, 0)

/* ---- calls with a result, and the result for a thread that is alone ---- */

PERFCC_RT_SHIM unsigned char perfcc_rt_GOMP_single_start(void);
unsigned char perfcc_rt_GOMP_single_start(void) {
  static perfcc_rt_function cache;
  perfcc_rt_function found = perfcc_rt_inside(&cache, "GOMP_single_start");
  return found ? ((unsigned char (*)(void))found)() : (unsigned char)1;
}

/* What guards ask: 1 as well where the caller may not start a team now. */
PERFCC_RT_SHIM int perfcc_rt_omp_get_max_threads(void);
int perfcc_rt_omp_get_max_threads(void) {
  int members, good;
  if (perfcc_rt_mine() || !perfcc_rt_ready() || !perfcc_rt_enter())
    return 1;
  members = ((int (*)(void))perfcc_rt_state_3.most)();
  good = members > 1 && !((int (*)(void))perfcc_rt_state_3.dynamic)() && !perfcc_rt_handler_may_jump() && perfcc_rt_enough(members);
  perfcc_rt_leave();
  return good ? members : 1;
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
PERFCC_RT_QUERY(omp_get_num_procs, perfcc_rt_starting, 1)
PERFCC_RT_QUERY(omp_get_thread_limit, perfcc_rt_starting, 1)
PERFCC_RT_QUERY(omp_in_parallel, perfcc_rt_inside, 0)
PERFCC_RT_QUERY(omp_get_level, perfcc_rt_inside, 0)
PERFCC_RT_QUERY(omp_get_active_level, perfcc_rt_inside, 0)

#undef PERFCC_RT_SHIM
#undef PERFCC_RT_HELPER
#undef PERFCC_RT_SLOTS
#undef PERFCC_RT_MASK_WORDS
#undef PERFCC_RT_VARIABLES
#undef PERFCC_RT_JUMPS
#undef PERFCC_RT_HANDLES
#undef PERFCC_RT_GETTID
#undef PERFCC_RT_TGKILL
#undef PERFCC_RT_LOAD
#undef PERFCC_RT_STORE
#undef PERFCC_RT_PLAIN
#undef PERFCC_RT_QUERY

#ifdef __cplusplus
}
#endif
#endif
