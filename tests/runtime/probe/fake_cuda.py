"""As much of `torch.cuda` as a clock asks for, on a machine without a GPU."""

from __future__ import annotations


class FakeEvent:
    def __init__(self, cuda: FakeCuda) -> None:
        self.cuda = cuda
        self.time: float | None = None

    def record(self) -> None:
        self.cuda.calls.append("record")
        self.time = self.cuda.stream_ms

    def elapsed_time(self, other: FakeEvent) -> float:
        if self.time is None or other.time is None:
            raise RuntimeError("both events must be recorded")
        assert "synchronize" in self.cuda.calls
        return other.time - self.time


class FakeCuda:
    """Of `torch.cuda`, what a clock asks; `stream_ms` is how far the GPU's queue reaches."""

    def __init__(self, *, initialized: bool = True, available: bool = True) -> None:
        self.calls: list[str] = []
        self.stream_ms = 0.0
        self.peak = self.allocated = 0
        self.reserved_peak = self.reserved = 0
        self.total, self.outside, self.retries = 1 << 30, 0, 0
        self.capturing = False
        self.rates: list[int | Exception] = []
        self.initialized, self.available = initialized, available

    def Event(self, *, enable_timing: bool) -> FakeEvent:
        assert enable_timing
        return FakeEvent(self)

    def is_initialized(self) -> bool:
        return self.initialized

    def is_available(self) -> bool:
        return self.available

    def is_current_stream_capturing(self) -> bool:
        assert self.initialized, "this would wake the driver"
        return self.capturing

    def synchronize(self) -> None:
        self.calls.append("synchronize")

    def clock_rate(self) -> int:
        self.calls.append("clock_rate")
        rate = self.rates.pop(0) if self.rates else ModuleNotFoundError("pynvml")
        if isinstance(rate, Exception):
            raise rate
        return rate

    def reset_peak_memory_stats(self) -> None:
        self.calls.append("reset")
        self.peak, self.reserved_peak = self.allocated, self.reserved

    def allocate(self, size: int) -> None:
        """Give this many bytes to tensors, or take them back; what was reserved stays so."""
        self.allocated += size
        self.peak = max(self.peak, self.allocated)
        self.reserved = max(self.reserved, self.allocated)
        self.reserved_peak = max(self.reserved_peak, self.reserved)

    def max_memory_allocated(self) -> int:
        return self.peak

    def max_memory_reserved(self) -> int:
        return self.reserved_peak

    def memory_reserved(self) -> int:
        return self.reserved

    def memory_stats(self) -> dict[str, int]:
        return {"num_alloc_retries": self.retries} if self.retries else {}

    def mem_get_info(self) -> tuple[int, int]:
        return self.total - self.reserved - self.outside, self.total
