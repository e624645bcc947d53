"""From kernel files to machine code, on a machine that needs no GPU."""

import logging

import pytest
from calls import raising
from kernel_builds import ARCHITECTURES, BUILDS

from warptsp.backends.cuda import cache, compiler
from warptsp.backends.cuda.compiler import Source, compile_kernels, target
from warptsp.backends.cuda.source import expand, kernel_names
from warptsp.errors import BackendUnavailable

HEADERS = """\
#include "common/lanes.h"
#include "common/metric.h"
#include "common/random.h"
using namespace warptsp;
template <class Metric>
__global__ void lengths(Metric metric, int n, u64 seed, double *length) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  Random random(seed, 0, k);
  if (k < n) length[k] = metric(k, random.below(n)) + SHIFT * WarpLanes::rank();
}
"""
NAMES = ("lengths<EuclideanRounded>", "lengths<AnyCoordinates<double>>", "lengths<Matrix<int>>")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))


@pytest.fixture
def kernels(tmp_path):
    path = tmp_path / "lengths.cu"
    path.write_text(HEADERS)
    return path


def ids(value):
    if isinstance(value, tuple):
        return "sm_{}{}".format(*value)
    return "-".join([value.file, *(f"{name}={setting}" for name, setting in value.defines.items())])


WANTED = [(build, capability) for build in BUILDS for capability in build.architectures]


@pytest.mark.parametrize(("build", "capability"), WANTED, ids=ids)
def test_every_kernel_compiles(nvrtc, build, capability):
    code = compile_kernels(build, capability)
    assert code.kind == "cubin"
    assert code.binary.startswith(b"\x7fELF")
    assert set(code.symbols) == {*build.names, *kernel_names(expand(build.file))}


@pytest.mark.parametrize("capability", ARCHITECTURES, ids=ids)
def test_the_shared_headers_compile(nvrtc, kernels, capability):
    code = compile_kernels(Source(kernels, NAMES, {"SHIFT": 2}), capability)
    assert all(symbol.encode() in code.binary for symbol in code.symbols.values())


def test_a_second_run_does_not_compile(nvrtc, kernels, monkeypatch):
    first = compile_kernels(Source(kernels, NAMES, {"SHIFT": 2}), (9, 0))
    monkeypatch.setattr(compiler, "_compile", None)
    assert compile_kernels(Source(kernels, NAMES, {"SHIFT": 2}), (9, 0)) == first


def test_whatever_matters_is_in_the_key(nvrtc, kernels, monkeypatch):
    keys = []
    monkeypatch.setattr(cache, "load", lambda key: keys.append(key) or cache.Code("cubin", b"", {}))

    def compiled(names=NAMES, capability=(9, 0), shift=2, fmad=True):
        compile_kernels(Source(kernels, names, {"SHIFT": shift}, fmad), capability)

    compiled()
    compiled()
    assert len(set(keys)) == 1
    compiled(names=NAMES[:1])
    compiled(capability=(8, 0))
    compiled(shift=3)
    compiled(fmad=False)
    kernels.write_text(HEADERS + "// changed\n")
    compiled()
    monkeypatch.setattr(compiler, "_nvrtc", lambda: ((99, 0), [90]))
    compiled()
    assert len(set(keys)) == 7


def test_a_damaged_entry_is_compiled_again(nvrtc, kernels, caplog):
    first = compile_kernels(Source(kernels, NAMES, {"SHIFT": 2}), (9, 0))
    (entry,) = cache.folder().iterdir()
    entry.write_bytes(entry.read_bytes()[:-7])
    with caplog.at_level(logging.WARNING):
        again = compile_kernels(Source(kernels, NAMES, {"SHIFT": 2}), (9, 0))
    assert again.symbols == first.symbols
    assert entry.is_file()
    assert "damaged" in caplog.text


def test_a_fault_in_a_kernel_file_is_placed(nvrtc, tmp_path):
    path = tmp_path / "faulty.cu"
    path.write_text('#include "common/lanes.h"\n\n__global__ void f(int *x) { *x = y; }\n')
    expected = (
        r'^NVRTC does not compile faulty\.cu for sm_90: faulty\.cu\(3\): error: .*"y" is undefined.*cpu$'
    )
    with pytest.raises(BackendUnavailable, match=expected):
        compile_kernels(Source(path, ("f",)), (9, 0))


def test_the_target():
    supported = [75, 80, 86, 87, 88, 89, 90, 100, 103, 120]
    assert target((9, 0), supported, (13, 0)) == ("cubin", "sm_90")
    assert target((8, 9), supported, (13, 0)) == ("cubin", "sm_89")
    assert target((10, 1), supported, (13, 0)) == ("cubin", "sm_100")  # code runs on later minor versions
    assert target((12, 1), supported, (13, 0)) == ("cubin", "sm_120")
    assert target((13, 0), supported, (13, 0)) == ("ptx", "compute_120")
    with pytest.raises(BackendUnavailable, match=r"NVRTC 13\.0 does not compile for compute capability 7\.0"):
        target((7, 0), supported, (13, 0))


def test_missing_packages_are_named(no_packages_for_cuda):
    with pytest.raises(
        BackendUnavailable, match=r"packages for CUDA are missing.*pip install 'warptsp\[cuda13\]'"
    ):
        compiler.nvrtc_version()


def test_a_missing_compiler_is_named(nvrtc, monkeypatch):
    from cuda.bindings import nvrtc as bindings

    monkeypatch.setattr(bindings, "nvrtcVersion", raising(RuntimeError("libnvrtc.so was not found")))
    with pytest.raises(
        BackendUnavailable, match=r"^NVRTC, CUDA's run-time compiler, is missing: pip install"
    ):
        compiler.nvrtc_version()
