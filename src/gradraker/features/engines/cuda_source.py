"""CUDA sources of the products, compiled for the GPU when they are first used.

A few neighbouring threads share a row of the sparse matrix: C of them for the columns, each with V
adjacent columns (16 bytes in one read), and E for entries in parallel, whose sums are then added
up by exchange of registers. Each row with very many entries has a block of threads. Sums do not
depend on the order in which threads run.
"""

# Rows with more entries get a whole block of threads.
LONG_ROW = 2048
THREADS = 256
# (V, C, E) for widths V·C of columns; E shrinks as C grows.
ENTRIES = {1: 16, 2: 8, 4: 8, 8: 4, 16: 2}

SOURCE = r"""
template <typename T, int V> struct alignas(sizeof(T) * V) Pack { T x[V]; };

template <typename T, int V>
__device__ inline void add_entries(
    const int* indices, const T* data, const T* X, long long ldx, long long start, long long stop,
    long long step, T* sums)
{
    for (long long entry = start; entry < stop; entry += step) {
        const T weight = data[entry];
        const Pack<T, V> other = *reinterpret_cast<const Pack<T, V>*>(X + indices[entry] * ldx);
#pragma unroll
        for (int v = 0; v < V; ++v) sums[v] += weight * other.x[v];
    }
}

template <typename T, int V>
__device__ inline void write_sums(T* y, const T* sums, T factor, T kept)
{
    Pack<T, V>* place = reinterpret_cast<Pack<T, V>*>(y);
    Pack<T, V> result;
    if (kept != T(0)) {
        result = *place;
#pragma unroll
        for (int v = 0; v < V; ++v) result.x[v] = factor * sums[v] + kept * result.x[v];
    } else {
#pragma unroll
        for (int v = 0; v < V; ++v) result.x[v] = factor * sums[v];
    }
    *place = result;
}

template <typename T, int V, int C, int E>
__global__ void multiply_rows(
    const long long* indptr, const int* indices, const T* data, const T* X, long long ldx, T* Y,
    long long ldy, T factor, T kept, long long n_rows, long long longest)
{
    const int lanes = C * E;
    const long long row = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / lanes;
    if (row >= n_rows) return;  // all lanes of a row together
    const int lane = threadIdx.x % lanes, column = (lane % C) * V;
    const long long start = indptr[row], stop = indptr[row + 1];
    if (stop - start > longest) return;
    T sums[V];
#pragma unroll
    for (int v = 0; v < V; ++v) sums[v] = T(0);
    add_entries<T, V>(indices, data, X + column, ldx, start + lane / C, stop, E, sums);
    const int first = (threadIdx.x & 31) / lanes * lanes;
    const unsigned mask = (lanes == 32 ? 0xffffffffu : ((1u << (lanes & 31)) - 1u)) << first;
#pragma unroll
    for (int offset = lanes / 2; offset >= C; offset /= 2)
#pragma unroll
        for (int v = 0; v < V; ++v) sums[v] += __shfl_xor_sync(mask, sums[v], offset);
    if (lane < C) write_sums<T, V>(Y + row * ldy + column, sums, factor, kept);
}

template <typename T, int V, int C>
__global__ void multiply_long_rows(
    const long long* rows, const long long* indptr, const int* indices, const T* data, const T* X,
    long long ldx, T* Y, long long ldy, T factor, T kept)
{
    __shared__ T shared[8 * C * V];  // THREADS / 32 warps
    const long long row = rows[blockIdx.x];
    const int lane = threadIdx.x, column = (lane % C) * V;
    T sums[V];
#pragma unroll
    for (int v = 0; v < V; ++v) sums[v] = T(0);
    add_entries<T, V>(indices, data, X + column, ldx, indptr[row] + lane / C, indptr[row + 1],
                      blockDim.x / C, sums);
#pragma unroll
    for (int offset = 16; offset >= C; offset /= 2)
#pragma unroll
        for (int v = 0; v < V; ++v) sums[v] += __shfl_xor_sync(0xffffffffu, sums[v], offset);
    if ((lane & 31) < C)
#pragma unroll
        for (int v = 0; v < V; ++v) shared[lane / 32 * C * V + column + v] = sums[v];
    __syncthreads();
    if (lane >= C) return;
    for (int warp = 1; warp < blockDim.x / 32; ++warp)
#pragma unroll
        for (int v = 0; v < V; ++v) sums[v] += shared[warp * C * V + column + v];
    write_sums<T, V>(Y + row * ldy + column, sums, factor, kept);
}

template <typename T>
__global__ void sum_products(const T* A, const T* B, long long n, int k, double* sums)
{
    __shared__ double shared[256];
    const int columns = min(k - (int)blockIdx.y * 256, 256);
    const int rows = 256 / columns;  // in parallel
    const int column = threadIdx.x % columns, place = threadIdx.x / columns;
    double sum = 0.0;
    if (place < rows)
        for (long long i = blockIdx.x * (long long)rows + place; i < n;
             i += gridDim.x * (long long)rows) {
            const long long at = i * k + blockIdx.y * 256 + column;
            sum += (double)A[at] * (double)B[at];
        }
    shared[threadIdx.x] = place < rows ? sum : 0.0;
    __syncthreads();
    if (threadIdx.x >= columns) return;
    for (int other = 1; other < rows; ++other) sum += shared[other * columns + column];
    sums[blockIdx.x * (long long)k + blockIdx.y * 256 + column] = sum;
}

// CuPy's own sum of few numbers takes seconds to compile when it is first used.
__global__ void add_sums(const double* sums, int n, int k, double* totals)
{
    __shared__ double shared[256];
    double sum = 0.0;
    for (int i = threadIdx.x; i < n; i += 256) sum += sums[i * (long long)k + blockIdx.x];
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) totals[blockIdx.x] = shared[0];
}
"""

# Each block of threads trains one variance: θ in shared memory, one step after the other.
SWEEP_SOURCE = r"""
__device__ inline double add_up(double sum, double* shared)
{
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if ((threadIdx.x & 31) == 0) shared[threadIdx.x / 32] = sum;
    __syncthreads();
    double total = 0.0;
    for (int warp = 0; warp < blockDim.x / 32; ++warp) total += shared[warp];
    return total;
}

extern "C" __global__ void train_sweep(
    const double* P, const double* scales, const long long* rows, const double* values,
    long long n_steps, int D, double step, double* theta)
{
    extern __shared__ double shared[];  // θ [2 D], then sums of two steps in turn [2, 8]
    double* own = shared;
    double* sums = shared + 2 * D;
    const double scale = scales[blockIdx.x], amplitude = rsqrt((double)D);
    for (int d = threadIdx.x; d < 2 * D; d += blockDim.x) own[d] = 0.0;
    __syncthreads();
    for (long long t = 0; t < n_steps; ++t) {
        const double* p = P + rows[t] * D;
        double sum = 0.0, s[4], c[4];
        int k = 0;
        for (int d = threadIdx.x; d < D; d += blockDim.x, ++k) {
            double sine, cosine;
            sincos(scale * p[d], &sine, &cosine);
            sine *= amplitude;
            cosine *= amplitude;
            if (k < 4) { s[k] = sine; c[k] = cosine; }
            sum += own[d] * sine + own[D + d] * cosine;
        }
        const double change = step * (values[t] - add_up(sum, sums + 8 * (t & 1)));
        k = 0;
        for (int d = threadIdx.x; d < D; d += blockDim.x, ++k) {
            double sine, cosine;
            if (k < 4) { sine = s[k]; cosine = c[k]; }
            else {
                sincos(scale * p[d], &sine, &cosine);
                sine *= amplitude;
                cosine *= amplitude;
            }
            own[d] += change * sine;
            own[D + d] += change * cosine;
        }
    }
    __syncthreads();  // other threads have written parts of θ, which is read now
    for (int d = threadIdx.x; d < 2 * D; d += blockDim.x)
        theta[blockIdx.x * (long long)(2 * D) + d] = own[d];
}

extern "C" __global__ void predict_sweep(
    const double* P, const double* scales, const double* theta, long long n, int D,
    double* predictions)
{
    const long long row = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;
    if (row >= n) return;
    const double scale = scales[blockIdx.y];
    const double* own = theta + blockIdx.y * (long long)(2 * D);
    double sum = 0.0;
    for (int d = threadIdx.x & 31; d < D; d += 32) {
        double sine, cosine;
        sincos(scale * P[row * D + d], &sine, &cosine);
        sum += own[d] * sine + own[D + d] * cosine;
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if ((threadIdx.x & 31) == 0) predictions[blockIdx.y * n + row] = sum * rsqrt((double)D);
}
"""


def list_names(c_type: str, vector: int) -> dict[tuple[str, int], str]:
    """Return (kernel, C) → the kernel's name in C++, of one type and V columns per thread.

    Examples
    --------
    >>> from gradraker.features.engines.cuda_source import list_names
    >>> list_names("float", 4)["rows", 2]
    'multiply_rows<float, 4, 2, 8>'
    """
    names = {}
    for c, e in ENTRIES.items():
        names["rows", c] = f"multiply_rows<{c_type}, {vector}, {c}, {e}>"
        names["long", c] = f"multiply_long_rows<{c_type}, {vector}, {c}>"
    return names
