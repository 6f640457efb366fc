// y = A x in float32 with one warp per row: its operations and bytes can be counted by hand, to check
// ncu's counters and profline's interpretation of them.
//
//   nvcc -O3 -arch=native tests/gpu/known_gemv.cu -o known_gemv
//   profline kernels profile --kernel-regex known_gemv --output-dir lab -- ./known_gemv
//
// A launch performs 2 rows columns operations in its products and (4 32 + 1) rows in the sums over
// the lanes of a warp (only the lane that stores the result does the last of five sums), and moves
// 4 (rows columns + columns + rows) bytes.

#include <cstdio>

constexpr int kRows = 16384;
constexpr int kColumns = 4096;
constexpr int kThreads = 256;
constexpr int kWarp = 32;

__global__ void known_gemv(const float4* a, const float4* x, float* y) {
  const int row = (blockIdx.x * kThreads + threadIdx.x) / kWarp;
  const int lane = threadIdx.x % kWarp;
  float sum = 0;
  for (int i = lane; i < kColumns / 4; i += kWarp) {
    const float4 of_a = a[row * (kColumns / 4) + i];
    const float4 of_x = x[i];
    sum = fmaf(of_a.x, of_x.x, sum);
    sum = fmaf(of_a.y, of_x.y, sum);
    sum = fmaf(of_a.z, of_x.z, sum);
    sum = fmaf(of_a.w, of_x.w, sum);
  }
  for (int apart = kWarp / 2; apart > 0; apart /= 2) {
    sum += __shfl_xor_sync(0xffffffffU, sum, apart);
  }
  if (lane == 0) y[row] = sum;
}

__global__ void fill(float* to, size_t count) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) to[i] = static_cast<float>(i % 251) / 251 - 0.5F;
}

float* filled(size_t count) {
  float* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(float));
  fill<<<(count + 255) / 256, 256>>>(memory, count);
  return memory;
}

int main() {
  const float* a = filled(size_t{kRows} * kColumns);
  const float* x = filled(kColumns);
  float* y = filled(kRows);
  for (int i = 0; i < 3; ++i) {
    known_gemv<<<kRows * kWarp / kThreads, kThreads>>>(reinterpret_cast<const float4*>(a),
                                                       reinterpret_cast<const float4*>(x), y);
  }
  const cudaError_t state = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(state));
  return state == cudaSuccess ? 0 : 1;
}
