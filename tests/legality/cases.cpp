// One nest a function. The comment above it labels the loops in source order: "parallel" needs nothing, "guarded" needs a test at run time,
// anything else is the id of a reason that blocks the loop.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

double grid[100][100], other[100][100];
int counter;
double total;

// expect: guarded guarded float-reduction-order
void matmul(double *c, const double *a, const double *b, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}

// expect: guarded guarded carried-dependence
void matmul_in_place(double *c, const double *a, const double *b, int n, int m, int p) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < p; k++)
                c[i * m + j] += a[i * p + k] * b[k * m + j];
}

// expect: guarded guarded
void stencil(double *out, const double *in, int w, int h) {
    for (int i = 1; i < h - 1; i++)
        for (int j = 1; j < w - 1; j++)
            out[i * w + j] = in[(i - 1) * w + j] + in[(i + 1) * w + j] + in[i * w + j - 1] + in[i * w + (j + 1)];
}

// expect: carried-dependence carried-dependence carried-dependence
void gauss_seidel(double *a, int w, int h, int steps) {
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < h - 1; i++)
            for (int j = 1; j < w - 1; j++)
                a[i * w + j] = 0.25 * (a[(i - 1) * w + j] + a[(i + 1) * w + j] + a[i * w + j - 1] + a[i * w + j + 1]);
}

// expect: carried-dependence carried-dependence
void wavefront(double *a, int n) {
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            a[i * n + j] = a[(i - 1) * n + j] + a[i * n + j - 1];
}

// expect: carried-dependence parallel
void column_sweep(double *a, int n) {
    for (int i = 1; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] += a[(i - 1) * n + j];
}

// expect: parallel parallel
void triangle(double *a, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            a[i * n + j] = a[j * n + i];
}

// expect: carried-dependence carried-dependence carried-dependence
void floyd_warshall(int *d, int n) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (d[i * n + k] + d[k * n + j] < d[i * n + j])
                    d[i * n + j] = d[i * n + k] + d[k * n + j];
}

// expect: carried-dependence parallel parallel
void floyd_warshall_skipping(int *d, int n) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            if (i == k)
                continue;
            const int through = d[i * n + k];
            for (int j = 0; j < n; j++)
                if (through + d[k * n + j] < d[i * n + j])
                    d[i * n + j] = through + d[k * n + j];
        }
}

// expect: carried-dependence
void prefix_sum(double *a, int n) {
    for (int i = 1; i < n; i++)
        a[i] += a[i - 1];
}

// expect: guarded float-reduction-order
void sparse_product(std::vector<double> &y, const std::vector<double> &val, const std::vector<int> &col, const std::vector<int> &row,
                    const std::vector<double> &x, int n) {
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int k = row[i]; k < row[i + 1]; k++)
            s += val[k] * x[col[k]];
        y[i] = s;
    }
}

// expect: carried-dependence parallel
void rows_through_data(double *a, const int *row, int n) {
    for (int i = 0; i < n; i++)
        for (int k = row[i]; k < row[i + 1]; k++)
            a[k] = 2 * a[k];
}

// expect: nonaffine-write
void histogram(const int *x, int n, double *h) {
    for (int i = 0; i < n; i++)
        h[x[i]] += 1;
}

// expect: nonaffine-write parallel
void scatter_rows(double *a, const int *idx, int n, int m) {
    for (int i = 0; i < n; i++) {
        int v = idx[i];
        for (int j = 0; j < m; j++)
            a[v * m + j] += 1;
    }
}

// expect: guarded
void copy(double *out, const double *in, int n) {
    for (int i = 0; i < n; i++)
        out[i] = in[i];
}

// expect: parallel
void copy_restrict(double *__restrict out, const double *__restrict in, int n) {
    for (int i = 0; i < n; i++)
        out[i] = in[i];
}

// expect: parallel
void copy_types(double *out, const int *in, int n) {
    for (int i = 0; i < n; i++)
        out[i] = in[i];
}

// expect: guarded
void copy_signs(unsigned *out, const int *in, int n) {
    for (int i = 0; i < n; i++)
        out[i] = in[i];
}

// expect: guarded
void copy_bytes(unsigned char *out, const int *in, int n) {
    for (int i = 0; i < n; i++)
        out[i] = static_cast<unsigned char>(in[i]);
}

// expect: possible-overlap
void gather_unknown(double *out, const double *in, const int *idx, int n) {
    for (int i = 0; i < n; i++)
        out[i] = in[idx[i]];
}

// expect: guarded
void gather_vector(double *out, const std::vector<double> &in, const int *idx, int n) {
    for (int i = 0; i < n; i++)
        out[i] = in[idx[i]];
}

// expect: carried-dependence
void shift_left(double *a, int n) {
    for (int i = 0; i < n; i++)
        a[i] = a[i + 1];
}

// expect: parallel
void shift_halves(double *a) {
    for (int i = 0; i < 50; i++)
        a[i] = a[i + 50];
}

// expect: carried-dependence
void shift_by_parameter(double *a, int n, int far) {
    for (int i = 0; i < n; i++)
        a[i] = a[i + far];
}

// expect: carried-dependence
void reversed(double *a, int n) {
    for (int i = 0; i < n; i++)
        a[i] = a[n - 1 - i];
}

// expect: parallel
void backwards(double *a, int n) {
    for (int i = n - 1; i >= 0; i--)
        a[i] *= 2;
}

// expect: parallel
void strided(double *a, int n) {
    for (int i = 0; i < n; i += 2)
        a[i] = a[i + 1];
}

// expect: parallel
void even_from_odd(double *a, int n) {
    for (int i = 0; i < n; i++)
        a[2 * i] = a[2 * i + 1];
}

// expect: guarded guarded
void transpose_unsigned(float *a, const float *b, unsigned n, unsigned m) {
    for (unsigned i = 0; i < n; ++i)
        for (unsigned j = 0; j < m; ++j)
            a[i * m + j] = b[j * n + i];
}

// expect: guarded
void unsigned_step(float *a, unsigned n) {
    for (unsigned i = 0; i < n; i += 4)
        a[i] = 0;
}

// expect: guarded guarded
void rows_longer_than_stride(double *a, int n, int m, int stride) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * stride + j] = 0;
}

// expect: parallel parallel parallel
void cube(double *a, int nx, int ny, int nz) {
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++)
            for (int k = 0; k < nz; k++)
                a[(i * ny + j) * nz + k] = i + j + k;
}

// expect: parallel parallel
void with_halo(double *a, int nx, int ny) {
    for (int i = 1; i <= nx; i++)
        for (int j = 1; j <= ny; j++)
            a[i * (ny + 2) + j] *= 0.5;
}

// expect: guarded parallel
void row_pointer_by_hand(double *a, int n, int m) {
    for (int i = 0; i < n; i++) {
        const int row = i * m;
        for (int j = 0; j < m; j++)
            a[row + j] += a[row + j] * i;
        counter = i;
    }
}

// expect: guarded guarded
void global_arrays(int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            grid[i][j] = other[j][i];
}

// expect: parallel
int integer_sum(const int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

// expect: parallel
long long_sum(const int *a, int n) {
    long s = 0;
    for (int i = 0; i < n; i++)
        if (a[i] > 3)
            s = s - a[i];
    return s;
}

// expect: parallel
int largest(const int *a, int n) {
    int m = a[0];
    for (int i = 1; i < n; i++)
        if (m < a[i])
            m = a[i];
    return m;
}

// expect: parallel
int smallest(const int *a, int n) {
    int m = a[0];
    for (int i = 1; i < n; i++)
        m = std::min(m, a[i]);
    return m;
}

// expect: scalar-carried
int position_of_largest(const int *a, int n) {
    int m = a[0], at = 0;
    for (int i = 1; i < n; i++)
        if (a[i] > m) {
            m = a[i];
            at = i;
        }
    return at + m;
}

// expect: float-reduction-order
double float_sum(const double *a, int n) {
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}

// expect: float-reduction-order
double float_largest(const double *a, int n) {
    double s = a[0];
    for (int i = 1; i < n; i++)
        if (a[i] > s)
            s = a[i];
    return s;
}

// expect: guarded
void count_in_global(const int *a, int n) {
    for (int i = 0; i < n; i++)
        if (a[i] > 3)
            counter++;
}

// expect: scalar-carried
int sum_read_inside(int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += a[i];
        a[i] = s;
    }
    return s;
}

// expect: parallel
void temporary_outside(double *a, int n) {
    double t;
    for (int i = 0; i < n; i++) {
        t = a[i] * 2;
        a[i] = t * t;
    }
}

// expect: guarded
double last_value(double *a, int n) {
    double t = 0;
    for (int i = 0; i < n; i++) {
        t = a[i] * 2;
        a[i] = t;
    }
    return t;
}

// expect: scalar-carried
double last_value_sometimes(const double *a, int n) {
    double t = 0;
    for (int i = 0; i < n; i++)
        if (a[i] > 3)
            t = a[i] * 2;
    return t;
}

// expect: guarded
int variable_needed_after(long *a, int n) {
    int i;
    for (i = 0; i < n; i++)
        a[i] = i;
    return i;
}

// expect: early-exit
int search(const int *a, int n) {
    int found = -1;
    for (int i = 0; i < n; i++)
        if (a[i] == 7) {
            found = i;
            break;
        }
    return found;
}

// expect: parallel parallel
void local_array(double *a, int n) {
    for (int i = 0; i < n; i++) {
        double t[8];
        for (int j = 0; j < 8; j++)
            t[j] = a[i * 8 + j];
        a[i * 8] = t[0] + t[7];
    }
}

// expect: large-private parallel
void large_local_array(double *a, int n) {
    for (int i = 0; i < n; i++) {
        double t[4096];
        for (int j = 0; j < 4096; j++)
            t[j] = j;
        a[i] = t[5];
    }
}

// expect: parallel
void roots(double *a, int n) {
    for (int i = 0; i < n; i++)
        a[i] = std::sqrt(a[i]);
}

// expect: errno-order
void powers(double *a, int n) {
    for (int i = 0; i < n; i++)
        a[i] = std::pow(a[i], 2.5);
}

// expect: parallel
void double_vector(std::vector<double> &v) {
    for (std::size_t i = 0; i < v.size(); ++i)
        v[i] *= 2;
}

// expect: guarded
void two_vectors(std::vector<double> &v, const std::vector<double> &w) {
    for (std::size_t i = 1; i < v.size(); ++i)
        v[i] = w[i - 1];
}

// expect: guarded guarded
void invert_image(unsigned char *out, const std::vector<unsigned char> &in, int w, int h) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            out[y * w + x] = 255 - in[y * w + x];
}

// expect: unmodelled-type
void bits(std::vector<bool> &v, int n) {
    for (int i = 0; i < n; i++)
        v[i] = true;
}

// expect: parallel parallel parallel
void tiled_by_hand(double *a, int n, int m) {
    for (int jj = 0; jj < n; jj += 32)
        for (int j = jj; j < std::min(jj + 32, n); j++)
            for (int i = 0; i < m; i++)
                a[i * n + j] += 1;
}

// expect: parallel
void in_quarters(int *a, int n) {
    for (int i = 0; i < n; i++)
        if (i % 4 == 0)
            a[i] = a[i + 2];
}

// expect: carried-dependence
void halves(int *a, int n) {
    for (int i = 0; i < n; i++)
        a[i / 2] = i;
}

// expect: possible-overlap
void bound_in_memory(int *a, const int *n) {
    for (int i = 0; i < *n; i++)
        a[i] = i;
}

typedef int __attribute__((may_alias)) pun;

// expect: unmodelled-type
void may_alias(pun *a, const float *b, int n) {
    for (int i = 0; i < n; i++)
        a[i] = b[i];
}

// expect: nonaffine-write
void constant_of_an_iteration(int *__restrict a, const int *__restrict x, int n) {
    for (int i = 0; i < n; i++) {
        const bool up = x[i] > 0;
        a[i + up] += 1;
    }
}

// expect: scalar-carried
unsigned long cut_short(unsigned long s, const unsigned long *a, int n) {
    for (int i = 0; i < n; i++)
        s = (unsigned)(s + a[i]);
    return s;
}

// expect: scalar-carried
int cut_to_a_byte(int s, const int *a, int n) {
    for (int i = 0; i < n; i++)
        s = (unsigned char)(s | a[i]);
    return s;
}

// expect: not-counted
void step_backwards_in_disguise(int *a, int n) {
    for (int i = 0; i < n; i += 4294967295u)
        a[i] = 1;
}

extern "C" {
int one_name[100];
extern int another_name[100] __attribute__((alias("one_name")));
}

// expect: unmodelled-type
void two_names(int n) {
    for (int i = 0; i < n; i++)
        one_name[i] = another_name[99 - i];
}

__attribute__((weak)) int replaced_later(int x) { return x; }

// expect: unknown-effects
void weak_function(int *a, int n) {
    for (int i = 0; i < n; i++)
        a[i] = replaced_later(i);
}

extern const int weak_length;
const int weak_length __attribute__((weak)) = 5;

// expect: unmodelled-type
void weak_constant(int *a, const int *b) {
    for (int i = 0; i < weak_length; i++)
        a[i] = b[i];
}

unsigned char pool[4096];

struct Placed {
    unsigned char x[64];
    int length;
    void into_the_pool(int n);
    void length_in_the_pool();
};

// expect: guarded
void Placed::into_the_pool(int n) {
    for (int i = 0; i < n; i++)
        pool[i] = x[63 - i];
}

// expect: guarded
void Placed::length_in_the_pool() {
    for (int i = 0; i < length; i++)
        pool[i] = 1;
}

// expect: carried-dependence scalar-carried
int last_of_an_inner_loop(double *__restrict p, const int *__restrict q, int n, int k) {
    int s = 0;
    for (int i = k; i > 1; --i) {
        p[i - 1] *= p[2 * i];
        for (int j = i; j < n; j += 2)
            s = q[j];
    }
    return s;
}

// expect: guarded
int last_of_all(const int *q, int n) {
    int s = 0;
    for (int j = 0; j < n; j++)
        s = q[j];
    return s;
}

enum { before_zero = -1 };

// expect: scalar-carried scalar-carried
int no_iteration_in_unsigned(int *__restrict a, const int *__restrict b, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        for (int j = before_zero; j < 5u; j++)
            s = b[i];
        a[i] = s;
    }
    return s;
}

void look_at(const int *value);

// expect: unmodelled-type
void looked_at_when_it_dies(int *__restrict a, const int *__restrict b, int n) {
    __attribute__((cleanup(look_at))) int t = 0;
    for (int i = 0; i < n; i++) {
        t = b[i];
        a[i] = t;
    }
}
