"""How many blocks a multiprocessor runs at once, and GPUs that are not there, whose launches are planned.

A multiprocessor holds as many blocks as its threads, registers and shared memory allow (CUDA C++ Programming
Guide, compute capabilities). Registers are what the compiler gave a kernel, which it writes into the machine
code: so a plan needs CUDA's packages, and neither a GPU nor a driver.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from warptsp._words import counted
from warptsp.backends.cuda.cache import Code
from warptsp.backends.cuda.compiler import Source, compile_kernels
from warptsp.backends.cuda.device import Device, Kernel
from warptsp.errors import InvalidOption

MOST_BLOCKS = {(7, 5): 16, (8, 6): 16, (8, 9): 24, (12, 0): 24}  # of a multiprocessor; 32 of all others
_RESERVED_SHARED = 1024  # bytes that the compiler adds to a block's own from compute capability 9.0 on


@dataclass(frozen=True, slots=True)
class Used:
    """What a kernel takes: registers of a thread, and bytes of shared memory of a block."""

    registers: int
    static_shared: int = 0


@dataclass(frozen=True, slots=True)
class Occupancy:
    """What limits the blocks that a multiprocessor runs at once."""

    blocks: int
    share: float  # of the threads that it can hold
    limit: str  # "threads", "blocks", "registers" or "shared memory"

    @classmethod
    def of(cls, device: Device | Chip, kernel: Kernel | Used, block: int, shared: int = 0) -> Occupancy:
        """Compute it for blocks of so many threads, with so many bytes of dynamic shared memory.

        Registers are given out to warps, 256 at a time, and to four warps alike.
        """
        warps = math.ceil(block / 32)
        of_a_warp = 256 * math.ceil(32 * kernel.registers / 256)
        taken = 128 * math.ceil((kernel.static_shared + shared) / 128) + device.shared_memory_reserved
        limits = {
            "threads": device.threads_per_multiprocessor // block,
            "blocks": MOST_BLOCKS.get(device.compute_capability, 32),
            "registers": device.registers_per_multiprocessor // of_a_warp // 4 * 4 // warps,
            "shared memory": device.shared_memory_per_multiprocessor // taken if taken else math.inf,
        }
        limit = min(limits, key=lambda name: limits[name])
        blocks = int(limits[limit])
        return cls(blocks, blocks * block / device.threads_per_multiprocessor, limit)

    def __str__(self) -> str:
        return (
            f"a multiprocessor runs {counted(self.blocks, 'block', 'blocks')} at once, "
            f"{100 * self.share:.0f} % of its threads, limited by {self.limit}"
        )


@dataclass(frozen=True, slots=True)
class Chip:
    """A GPU that is not there, with what plans ask of a `Device`."""

    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    threads_per_multiprocessor: int
    shared_memory_per_multiprocessor: int
    shared_memory_reserved: int = 1024
    registers_per_multiprocessor: int = 65536

    @classmethod
    def of(cls, architecture: str) -> Chip:
        """Return the chip that stands for an architecture, such as "sm_90"; InvalidOption without one."""
        for chip in CHIPS:
            if architecture == chip.architecture:
                return chip
        known = ", ".join(chip.architecture for chip in CHIPS)
        raise InvalidOption(f"architecture {architecture!r} is unknown; there are {known}")

    @property
    def architecture(self) -> str:
        """Its architecture as the compiler calls it."""
        return "sm_{}{}".format(*self.compute_capability)

    @property
    def shared_memory_per_block(self) -> int:
        """Bytes that one block can have at most."""
        return self.shared_memory_per_multiprocessor - self.shared_memory_reserved

    def module(self, source: Source) -> ChipModule:
        """Return kernels, compiled for it; waits if they are not in the cache."""
        return ChipModule(self, compile_kernels(source, self.compute_capability))


@dataclass(frozen=True, slots=True)
class ChipModule:
    """Kernels of a file, compiled for a chip."""

    chip: Chip
    code: Code

    def kernel(self, name: str) -> ChipKernel:
        symbol = self.code.symbols[name]
        sections, registers = _sections(self.code.binary)
        static = sections.get(f".nv.shared.{symbol}", (0, 0))[1]
        if self.chip.compute_capability >= (9, 0):
            static = max(0, static - _RESERVED_SHARED)
        return ChipKernel(registers[symbol], static, chip=self.chip)


@dataclass(frozen=True, slots=True)
class ChipKernel(Used):
    """A kernel that cannot be launched, with what plans ask of a `Kernel`."""

    chip: Chip = field(kw_only=True)

    def blocks_per_multiprocessor(self, block: int, shared: int = 0) -> int:
        """Return how many blocks of this many threads and bytes of dynamic shared memory run at once on a
        multiprocessor; 0 if none can."""
        if shared + self.static_shared > self.chip.shared_memory_per_block:
            return 0
        return Occupancy.of(self.chip, self, block, shared).blocks

    def prefer_shared(self, percent: int) -> None:
        """Nothing is divided where nothing runs."""


CHIPS = (
    Chip("T4", (7, 5), 40, 1024, 65536, 0),
    Chip("A100", (8, 0), 108, 2048, 167936),
    Chip("A40", (8, 6), 84, 1536, 102400),
    Chip("L40S", (8, 9), 142, 1536, 102400),
    Chip("H100 SXM or H200", (9, 0), 132, 2048, 233472),
    Chip("B200", (10, 0), 148, 2048, 233472),
    Chip("RTX PRO 6000 Blackwell", (12, 0), 188, 1536, 102400),
)


def _sections(cubin: bytes) -> tuple[dict[str, tuple[int, int]], dict[str, int]]:
    """Return where the sections of a file of machine code (ELF) are, and the registers of its kernels."""
    (headers,) = struct.unpack_from("<Q", cubin, 40)
    size, count, of_names = struct.unpack_from("<HHH", cubin, 58)
    found = [struct.unpack_from("<I20xQQ", cubin, headers + k * size) for k in range(count)]

    def text(begin: int) -> str:
        return cubin[begin : cubin.index(b"\0", begin)].decode()

    sections = {text(found[of_names][1] + name): (offset, length) for name, offset, length in found}
    symbols, strings = sections[".symtab"][0], sections[".strtab"][0]
    registers = {}
    for symbol, number in _registers(cubin, *sections[".nv.info"]):
        (name,) = struct.unpack_from("<I", cubin, symbols + 24 * symbol)
        registers[text(strings + name)] = number
    return sections, registers


def _registers(cubin: bytes, offset: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield symbols and their registers: attributes 0x2f of the section ``.nv.info``."""
    at = offset
    while at < offset + length:
        form, attribute, size = struct.unpack_from("<BBH", cubin, at)
        at += 4
        if form == 4:  # has `size` bytes; other attributes have their value in place of it
            if attribute == 0x2F:
                yield struct.unpack_from("<II", cubin, at)
            at += size
