"""Arrays, kernels and clocks of a real GPU."""

import gc

import numpy as np
import pytest
from instances import mixed

from warptsp.backends.cuda.compiler import Source
from warptsp.backends.cuda.device import Device
from warptsp.backends.cuda.memory import IDLE_BYTES
from warptsp.errors import DeviceFailure

pytestmark = pytest.mark.gpu

KERNELS = """\
#include "cuda/grid.h"
#include "common/random.h"
struct Line {
  float slope;
  double offset;
  signed char sign;
};
template <class T>
__global__ void apply(const T *x, T *y, int n, Line line) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) y[k] = line.sign * T(line.slope * x[k] + line.offset) + SHIFT;
}
extern "C" __global__ void reverse(const int *in, int *out, int n) {
  extern __shared__ int room[];
  for (int k = threadIdx.x; k < n; k += blockDim.x) room[k] = in[blockIdx.x * n + k];
  __syncthreads();
  for (int k = threadIdx.x; k < n; k += blockDim.x) out[blockIdx.x * n + k] = room[n - 1 - k];
}
extern "C" __global__ void draw(unsigned long long seed, int bound, int *out) {
  out[threadIdx.x] = warptsp::Random(seed, 1, threadIdx.x).below(bound);
}
extern "C" __global__ void multiply_add(double a, double b, double c, double *out) { *out = a * b + c; }
extern "C" __global__ void is_null(const int *pointer, int *out) { *out = pointer == nullptr; }
// Each round a block adds the values of its neighbours in the ring.
extern "C" __global__ void ring(int *values, int rounds, unsigned *arrived) {
  const int size = gridDim.x, own = blockIdx.x;
  for (int round = 0; round < rounds; ++round) {
    const int *from = values + round % 2 * size;
    int *to = values + (round + 1) % 2 * size;
    const int sum = from[own] + from[(own + 1) % size] + from[(own + size - 1) % size];
    if (threadIdx.x == 0) to[own] = sum % 9973;
    warptsp::grid_barrier(arrived);
  }
}
extern "C" __global__ void wait(long long nanoseconds) {
  long long now, begun;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begun));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - begun < nanoseconds);
}
"""
NAMES = ("apply<float>", "apply<int>", "reverse", "draw", "multiply_add", "is_null", "ring", "wait")
LINE = np.dtype([("slope", np.float32), ("offset", np.float64), ("sign", np.int8)], align=True)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("kernels") / "tested.cu"
    path.write_text(KERNELS)
    return path


@pytest.fixture(scope="module")
def module(gpu, source):
    return gpu.module(Source(source, NAMES, {"SHIFT": 7}))


def test_limits(gpu):
    assert gpu.name
    assert gpu.compute_capability >= (7, 5)
    assert gpu.multiprocessors > 0
    assert gpu.threads_per_multiprocessor % 32 == 0
    assert gpu.registers_per_multiprocessor >= 65_536
    assert gpu.shared_memory_per_multiprocessor >= gpu.shared_memory_per_block >= 48 * 1024
    assert 0 < gpu.memory_free() <= gpu.memory_total


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float64, LINE])
@pytest.mark.parametrize("shape", [(1000,), (10, 3), (0,), (0, 2), ()])
def test_arrays_go_and_come_back(gpu, shape, dtype):
    raw = np.random.default_rng(1).integers(0, 100, (*shape, np.dtype(dtype).itemsize), dtype=np.uint8)
    values = np.ascontiguousarray(raw).view(dtype).reshape(shape)
    array = gpu.upload(values)
    assert array.shape == shape
    assert array.size == values.size
    assert array.nbytes == values.nbytes
    assert array.download().tobytes() == values.tobytes()


def test_arrays_are_copied_cleared_and_sliced(gpu):
    values = np.arange(30, dtype=np.int32).reshape(10, 3)
    array = gpu.upload(values[:, ::-1])  # not contiguous
    np.testing.assert_array_equal(array.download(), values[:, ::-1])
    other = gpu.zeros((10, 3), np.int32)
    assert not other.download().any()
    other.copy_from(array)
    other[2:4].zero()
    other[8:].copy_from(array[:2])
    other[5:6].upload(values[:1])
    expected = values[:, ::-1].copy()
    expected[2:4] = 0
    expected[8:] = values[:2, ::-1]
    expected[5] = values[0]
    out = np.empty((10, 3), np.int32)
    assert other.download(out) is out
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(other[-2:].download(), expected[-2:])
    assert len(other[4:2]) == 0
    assert other[4:2].download().shape == (0, 3)


def test_arrays_made_together_hold_what_was_given_and_do_not_overlap(gpu):
    given = {"a": np.arange(7, dtype=np.uint8), "b": np.eye(5)[:, ::-1], "none": np.empty((0, 2), np.int32)}
    arrays = gpu.together(room=((3, 50), np.int32), **given, more=(1000, np.float64))
    assert [(name, array.shape) for name, array in arrays.items() if name in ("room", "more")] == [
        ("room", (3, 50)),
        ("more", (1000,)),
    ]
    arrays["room"].zero()
    arrays["more"].upload(np.arange(1000.0))
    for name, values in given.items():
        np.testing.assert_array_equal(arrays[name].download(), values)
    assert not arrays["room"].download().any()
    assert all(array.pointer % 256 == 0 for array in arrays.values())
    last = arrays.pop("more")
    del arrays
    np.testing.assert_array_equal(last.download(), np.arange(1000.0))


def test_an_array_of_the_host_may_change_after_its_upload(gpu):
    values = np.arange(1 << 22, dtype=np.int64)
    arrays = []
    for k in range(5):
        values[:] = k
        arrays.append(gpu.upload(values))
    values[:] = -1
    for k, array in enumerate(arrays):
        assert (array.download() == k).all()


def test_arrays_refuse_what_does_not_fit(gpu):
    array = gpu.zeros((4, 2), np.int32)
    with pytest.raises(ValueError, match=r"shape \(2, 4\) and type int32 is not one of shape \(4, 2\)"):
        array.upload(np.zeros((2, 4), np.int32))
    with pytest.raises(ValueError, match=r"type float32 is not one of .*type int32"):
        array.download(np.zeros((4, 2), np.float32))
    with pytest.raises(ValueError, match="C-contiguous"):
        array.download(np.zeros((2, 4), np.int32).T)
    with pytest.raises(ValueError, match="consecutive"):
        array[::2]


def test_memory_is_given_back(gpu):
    gc.collect()
    free = gpu.memory_free()
    array = gpu.empty(1 << 28, np.uint8)
    assert gpu.memory_free() <= free - (1 << 28)
    assert gpu.memory_peak() >= 1 << 28
    view = array[5:]
    del array
    assert gpu.memory_free() <= free - (1 << 28)
    del view
    assert gpu.memory_free() >= free - (64 << 20)


def test_an_empty_pool_goes_to_the_next_device(gpu):
    if gpu._pool is None:
        pytest.skip("this driver has no memory pools")
    first = Device.open(gpu.ordinal)
    first.empty(1 << 28, np.uint8)  # given back at once
    pool = first._pool
    first.close()
    second = Device.open(gpu.ordinal)
    assert second._pool is pool
    assert second._pool_figure("USED_MEM_CURRENT") == second.memory_peak() == 0
    assert second._pool_figure("RESERVED_MEM_CURRENT") <= IDLE_BYTES
    array = second.upload(np.arange(5))
    second.close()
    with Device.open(gpu.ordinal) as third:
        assert third._pool is not pool  # it has an array
        assert third.memory_peak() == 0
    assert array.download().tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_a_kernel_with_arrays_scalars_and_a_struct(gpu, module, dtype):
    x = np.arange(1000, dtype=dtype)
    y = gpu.zeros(1000, dtype)
    line = np.array((2.0, 3.0, -1), LINE)[()]
    kernel = module.kernel("apply<float>" if dtype == np.float32 else "apply<int>")
    kernel.launch(8, 128, gpu.upload(x), y, np.int32(900), line)
    expected = np.where(np.arange(1000) < 900, -(2 * x + 3) + 7, 0)
    np.testing.assert_array_equal(y.download(), expected)
    kernel.launch((0,), 128, y, y, np.int32(900), line)  # nothing to do
    np.testing.assert_array_equal(y.download(), expected)


def test_arguments_are_checked(gpu, module):
    kernel = module.kernel("draw")
    out = gpu.zeros(32, np.int32)
    with pytest.raises(
        TypeError, match=r"draw: the argument 5 is a int; give a DeviceArray or a NumPy scalar"
    ):
        kernel.launch(1, 32, 5, np.int32(3), out)
    with pytest.raises(
        TypeError, match=r"takes 3 arguments of \[8, 4, 8\] bytes and was given 3 of \[4, 4, 8\]"
    ):
        kernel.launch(1, 32, np.int32(5), np.int32(3), out)
    with pytest.raises(TypeError, match="was given 2 of"):
        kernel.launch(1, 32, np.uint64(5), np.int32(3))


def test_null_pointers(gpu, module):
    out = gpu.zeros(1, np.int32)
    module.kernel("is_null").launch(1, 1, None, out)
    assert out.download()[0] == 1
    module.kernel("is_null").launch(1, 1, out, out)
    assert out.download()[0] == 0


def test_random_numbers_are_those_of_the_cpu(gpu, module):
    out = gpu.zeros(32, np.int32)
    module.kernel("draw").launch(1, 32, np.uint64(5), np.int32(1000), out)

    def below(index):
        state = mixed(mixed(mixed(5) + 1) + index)
        return (mixed(state + 0x9E3779B97F4A7C15) >> 32) * 1000 >> 32

    assert out.download().tolist() == [below(k) for k in range(32)]


def test_rounding_once_or_twice(gpu, source):
    a, b = 1.0 + 2.0**-30, 1.0 - 2.0**-30
    results = {}
    for fmad in (True, False):
        out = gpu.zeros(1, np.float64)
        kernel = gpu.module(Source(source, NAMES, {"SHIFT": 7}, fmad)).kernel("multiply_add")
        kernel.launch(1, 1, np.float64(a), np.float64(b), np.float64(-1.0), out)
        results[fmad] = out.download()[0]
    assert results == {True: -(2.0**-60), False: 0.0}


def test_large_shared_memory_is_asked_for(gpu, module):
    kernel = module.kernel("reverse")
    n = gpu.shared_memory_per_block // 4
    values = np.arange(2 * n, dtype=np.int32)
    out = gpu.zeros(2 * n, np.int32)
    kernel.launch(2, 256, gpu.upload(values), out, np.int32(n), shared=4 * n)
    np.testing.assert_array_equal(out.download().reshape(2, n), values.reshape(2, n)[:, ::-1])
    with pytest.raises(
        ValueError, match=r"reverse: \d+ bytes of dynamic shared memory, and device cuda:0 has \d+"
    ):
        kernel.launch(1, 32, out, out, np.int32(1), shared=4 * n + 1)


def test_occupancy(gpu, module):
    kernel = module.kernel("reverse")
    assert kernel.registers > 0
    assert kernel.local_bytes >= 0
    assert kernel.static_shared == 0
    assert kernel.blocks_per_multiprocessor(kernel.threads_per_block) >= 1
    many, few = kernel.blocks_per_multiprocessor(64), kernel.blocks_per_multiprocessor(64, 40 * 1024)
    each = 40 * 1024 + gpu.shared_memory_reserved
    assert few == min(many, gpu.shared_memory_per_multiprocessor // each)
    assert kernel.blocks_per_multiprocessor(64, gpu.shared_memory_per_block) == 1
    assert kernel.blocks_per_multiprocessor(64, gpu.shared_memory_per_block + 1) == 0
    assert kernel.blocks_per_multiprocessor(2048) == 0


def test_blocks_wait_for_each_other(gpu, module):
    kernel = module.kernel("ring")
    size = gpu.multiprocessors * kernel.blocks_per_multiprocessor(64)
    expected = np.arange(size)
    values = gpu.upload(np.stack([expected, expected]).astype(np.int32))
    for _ in range(101):
        expected = (expected + np.roll(expected, 1) + np.roll(expected, -1)) % 9973
    kernel.launch(size, 64, values, np.int32(101), gpu.zeros(1, np.uint32), cooperative=True)
    np.testing.assert_array_equal(values.download()[1], expected)
    with pytest.raises(DeviceFailure, match="COOPERATIVE_LAUNCH_TOO_LARGE"):
        kernel.launch(size + 1, 64, values, np.int32(1), gpu.zeros(1, np.uint32), cooperative=True)


def test_the_clock_is_that_of_the_gpu(gpu, module):
    kernel = module.kernel("wait")
    with gpu.timer() as timer:
        kernel.launch(1, 1, np.int64(200_000_000))
    assert timer.seconds > 0.19
