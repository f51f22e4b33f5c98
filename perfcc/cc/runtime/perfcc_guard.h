/* perfcc_guard.h: what the guards and the parallel regions of rewritten kernels call.
 *
 * This text is put at the top of a rewritten unit, so it includes nothing, declares no name outside the
 * perfcc_rt_ prefix, and is valid C89 and C++98 with GNU extensions. Functions of libc and of the OpenMP library
 * are declared under names of its own with assembler labels: a header that declares them later can't clash. Those of libc
 * are weak references, as an object that needs no libc may be linked without one; then no threads are used.
 */
#ifndef PERFCC_GUARD_H
#define PERFCC_GUARD_H

#ifdef __cplusplus
extern "C" {
#endif

#define PERFCC_RT_FN static __inline__ __attribute__((__unused__))

static int *perfcc_rt_c_errno(void) __attribute__((__weakref__("__errno_location"), __nothrow__));
static int perfcc_rt_c_getpid(void) __attribute__((__weakref__("getpid"), __nothrow__));
extern int perfcc_rt_c_in_parallel(void) __asm__("omp_in_parallel") __attribute__((__nothrow__));
extern int perfcc_rt_c_max_threads(void) __asm__("omp_get_max_threads") __attribute__((__nothrow__));

/* ---- arithmetic without wrap-around ---------------------------------------------------------------------------
 * A value is a long long; the lowest one stands for "unknown" and spreads through every operation. A test of an
 * unknown value is false, so that the original runs. */

__extension__ typedef long long perfcc_rt_wide;
__extension__ typedef unsigned long long perfcc_rt_uwide;

#define PERFCC_RT_MAX ((perfcc_rt_wide)(~(perfcc_rt_uwide)0 >> 1))
#define PERFCC_RT_UNKNOWN (-PERFCC_RT_MAX - 1)

PERFCC_RT_FN perfcc_rt_wide perfcc_rt_from_unsigned(perfcc_rt_uwide a) {
  return a > (perfcc_rt_uwide)PERFCC_RT_MAX ? PERFCC_RT_UNKNOWN : (perfcc_rt_wide)a;
}

PERFCC_RT_FN perfcc_rt_wide perfcc_rt_add(perfcc_rt_wide a, perfcc_rt_wide b) {
  perfcc_rt_wide r;
  if (a == PERFCC_RT_UNKNOWN || b == PERFCC_RT_UNKNOWN || __builtin_add_overflow(a, b, &r))
    return PERFCC_RT_UNKNOWN;
  return r;
}

PERFCC_RT_FN perfcc_rt_wide perfcc_rt_sub(perfcc_rt_wide a, perfcc_rt_wide b) {
  perfcc_rt_wide r;
  if (a == PERFCC_RT_UNKNOWN || b == PERFCC_RT_UNKNOWN || __builtin_sub_overflow(a, b, &r))
    return PERFCC_RT_UNKNOWN;
  return r;
}

PERFCC_RT_FN perfcc_rt_wide perfcc_rt_mul(perfcc_rt_wide a, perfcc_rt_wide b) {
  perfcc_rt_wide r;
  if (a == PERFCC_RT_UNKNOWN || b == PERFCC_RT_UNKNOWN || __builtin_mul_overflow(a, b, &r))
    return PERFCC_RT_UNKNOWN;
  return r;
}

/* Division and remainder as C defines them; by zero or less: unknown. */
PERFCC_RT_FN perfcc_rt_wide perfcc_rt_div(perfcc_rt_wide a, perfcc_rt_wide b) {
  return a == PERFCC_RT_UNKNOWN || b <= 0 ? PERFCC_RT_UNKNOWN : a / b;
}

PERFCC_RT_FN perfcc_rt_wide perfcc_rt_mod(perfcc_rt_wide a, perfcc_rt_wide b) {
  return a == PERFCC_RT_UNKNOWN || b <= 0 ? PERFCC_RT_UNKNOWN : a % b;
}

PERFCC_RT_FN perfcc_rt_wide perfcc_rt_min(perfcc_rt_wide a, perfcc_rt_wide b) { return a < b ? a : b; }

PERFCC_RT_FN perfcc_rt_wide perfcc_rt_max(perfcc_rt_wide a, perfcc_rt_wide b) {
  if (a == PERFCC_RT_UNKNOWN || b == PERFCC_RT_UNKNOWN)
    return PERFCC_RT_UNKNOWN;
  return a > b ? a : b;
}

/* a if it is a value of a type of that many bits and that signedness, else unknown. */
PERFCC_RT_FN perfcc_rt_wide perfcc_rt_fit(perfcc_rt_wide a, int bits, int is_signed) {
  perfcc_rt_wide limit = bits >= 64 ? PERFCC_RT_MAX : (((perfcc_rt_wide)1) << (is_signed ? bits - 1 : bits)) - 1;
  perfcc_rt_wide least = is_signed ? -limit - 1 : 0;
  return a < least || a > limit ? PERFCC_RT_UNKNOWN : a;
}

PERFCC_RT_FN int perfcc_rt_known(perfcc_rt_wide a) { return a != PERFCC_RT_UNKNOWN; }

PERFCC_RT_FN int perfcc_rt_less(perfcc_rt_wide a, perfcc_rt_wide b) {
  return a != PERFCC_RT_UNKNOWN && b != PERFCC_RT_UNKNOWN && a < b;
}

PERFCC_RT_FN int perfcc_rt_at_most(perfcc_rt_wide a, perfcc_rt_wide b) {
  return a != PERFCC_RT_UNKNOWN && b != PERFCC_RT_UNKNOWN && a <= b;
}

PERFCC_RT_FN int perfcc_rt_equal(perfcc_rt_wide a, perfcc_rt_wide b) {
  return a != PERFCC_RT_UNKNOWN && b != PERFCC_RT_UNKNOWN && a == b;
}

PERFCC_RT_FN int perfcc_rt_differ(perfcc_rt_wide a, perfcc_rt_wide b) {
  return a != PERFCC_RT_UNKNOWN && b != PERFCC_RT_UNKNOWN && a != b;
}

/* ---- overlap ---------------------------------------------------------------------------------------------------
 * Subscripts [lowest, count) of elements of that size, from that address (a number: what it points to may not be
 * initialised yet). An empty range overlaps nothing. */

#define perfcc_rt_at(base) ((__SIZE_TYPE__)(base))

PERFCC_RT_FN int perfcc_rt_disjoint(__SIZE_TYPE__ left, perfcc_rt_wide left_lowest, perfcc_rt_wide left_count,
                                    perfcc_rt_wide left_size, __SIZE_TYPE__ right, perfcc_rt_wide right_lowest,
                                    perfcc_rt_wide right_count, perfcc_rt_wide right_size) {
  perfcc_rt_wide l0, l1, r0, r1;
  if (!perfcc_rt_known(left_lowest) || !perfcc_rt_known(left_count) || !perfcc_rt_known(right_lowest) ||
      !perfcc_rt_known(right_count))
    return 0;
  if (left_count <= left_lowest || right_count <= right_lowest)
    return 1;
  l0 = perfcc_rt_from_unsigned(left);
  r0 = perfcc_rt_from_unsigned(right);
  l1 = perfcc_rt_add(l0, perfcc_rt_mul(left_count, left_size));
  r1 = perfcc_rt_add(r0, perfcc_rt_mul(right_count, right_size));
  l0 = perfcc_rt_add(l0, perfcc_rt_mul(left_lowest, left_size));
  r0 = perfcc_rt_add(r0, perfcc_rt_mul(right_lowest, right_size));
  return perfcc_rt_at_most(l1, r0) || perfcc_rt_at_most(r1, l0);
}

/* ---- errno -----------------------------------------------------------------------------------------------------
 * Every thread has its own. A region clears it, and the caller's is set to what the iterations left. */

PERFCC_RT_FN int perfcc_rt_errno_swap(int value) {
  int *place = perfcc_rt_c_errno();
  int old = *place;
  *place = value;
  return old;
}

PERFCC_RT_FN int perfcc_rt_errno_get(void) { return *perfcc_rt_c_errno(); }

/* ---- floating-point environment --------------------------------------------------------------------------------
 * A region gives each thread the caller's control words (rounding, flush to zero) and clear status flags, restores
 * the thread's own afterwards, and raises in the caller what the iterations raised. A state is one number. */

typedef perfcc_rt_uwide perfcc_rt_fenv;

#if defined(__SSE2__)
#define PERFCC_RT_FENV_FLAGS 0x3fu
/* MXCSR in the low half, the x87 control word above it; flags of either unit in the flag bits of MXCSR. */
PERFCC_RT_FN perfcc_rt_fenv perfcc_rt_fenv_read(void) {
  unsigned csr;
  unsigned short control, status;
  __asm__ __volatile__("stmxcsr %0\n\tfnstcw %1\n\tfnstsw %2" : "=m"(csr), "=m"(control), "=m"(status) : : "memory");
  return ((perfcc_rt_fenv)control << 32) | csr | (status & PERFCC_RT_FENV_FLAGS);
}
PERFCC_RT_FN void perfcc_rt_fenv_write(perfcc_rt_fenv state) {
  unsigned csr = (unsigned)state;
  unsigned short control = (unsigned short)(state >> 32);
  __asm__ __volatile__("fnclex\n\tfldcw %1\n\tldmxcsr %0" : : "m"(csr), "m"(control) : "memory");
}
/* True when no floating-point exception is unmasked: a trap must hit the thread that runs the loop. */
PERFCC_RT_FN int perfcc_rt_fenv_masked(void) {
  perfcc_rt_fenv state = perfcc_rt_fenv_read();
  return (state & 0x1f80u) == 0x1f80u && ((state >> 32) & 0x3fu) == 0x3fu;
}
#elif defined(__aarch64__)
/* FPSR flags in bits 0-4 and 7, FPCR control in bits 8-31 and so apart from them. */
#define PERFCC_RT_FENV_FLAGS 0x9fu
PERFCC_RT_FN perfcc_rt_fenv perfcc_rt_fenv_read(void) {
  __UINT64_TYPE__ fpcr, fpsr;
  __asm__ __volatile__("mrs %0, fpcr" : "=r"(fpcr));
  __asm__ __volatile__("mrs %0, fpsr" : "=r"(fpsr) : : "memory");
  return (fpcr & 0xffffff00u) | (fpsr & PERFCC_RT_FENV_FLAGS);
}
PERFCC_RT_FN void perfcc_rt_fenv_write(perfcc_rt_fenv state) {
  __UINT64_TYPE__ fpcr, fpsr;
  __asm__ __volatile__("mrs %0, fpsr" : "=r"(fpsr) : : "memory");
  fpcr = state & 0xffffff00u;
  fpsr = (fpsr & ~(__UINT64_TYPE__)PERFCC_RT_FENV_FLAGS) | (state & PERFCC_RT_FENV_FLAGS);
  __asm__ __volatile__("msr fpcr, %0" : : "r"(fpcr) : "memory");
  __asm__ __volatile__("msr fpsr, %0" : : "r"(fpsr) : "memory");
}
PERFCC_RT_FN int perfcc_rt_fenv_masked(void) { return (perfcc_rt_fenv_read() & 0x9f00u) == 0; }
#else
#define PERFCC_RT_FENV_FLAGS 0u
PERFCC_RT_FN perfcc_rt_fenv perfcc_rt_fenv_read(void) { return 0; }
PERFCC_RT_FN void perfcc_rt_fenv_write(perfcc_rt_fenv state) { (void)state; }
PERFCC_RT_FN int perfcc_rt_fenv_masked(void) { return 0; }
#endif

/* The thread's own state, to be given to perfcc_rt_fenv_leave. */
PERFCC_RT_FN perfcc_rt_fenv perfcc_rt_fenv_enter(perfcc_rt_fenv callers) {
  perfcc_rt_fenv own = perfcc_rt_fenv_read();
  perfcc_rt_fenv_write(callers & ~(perfcc_rt_fenv)PERFCC_RT_FENV_FLAGS);
  return own;
}

/* The flags raised since perfcc_rt_fenv_enter. */
PERFCC_RT_FN unsigned perfcc_rt_fenv_leave(perfcc_rt_fenv own) {
  unsigned raised = (unsigned)(perfcc_rt_fenv_read() & PERFCC_RT_FENV_FLAGS);
  perfcc_rt_fenv_write(own);
  return raised;
}

PERFCC_RT_FN void perfcc_rt_fenv_raise(unsigned raised) { perfcc_rt_fenv_write(perfcc_rt_fenv_read() | raised); }

/* ---- may threads be used here and now? -------------------------------------------------------------------------
 * Not before this object's constructors ran, not in the child of a fork (its thread pool is gone), not inside a
 * parallel region, not alone, not with floating-point traps on. */

static int perfcc_rt_pid __attribute__((__unused__));

static void perfcc_rt_note_pid(void) __attribute__((__constructor__, __unused__));
static void perfcc_rt_note_pid(void) { perfcc_rt_pid = perfcc_rt_c_getpid ? perfcc_rt_c_getpid() : 0; }

PERFCC_RT_FN int perfcc_rt_parallel_ok(void) {
  return perfcc_rt_c_getpid && perfcc_rt_c_errno && perfcc_rt_c_getpid() == perfcc_rt_pid && !perfcc_rt_c_in_parallel() &&
         perfcc_rt_c_max_threads() > 1 && perfcc_rt_fenv_masked();
}

#ifdef __cplusplus
}
#endif

#endif
