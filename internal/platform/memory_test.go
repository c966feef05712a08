package platform_test

import (
	"bytes"
	"math"
	"os"
	"testing"

	"warder/internal/platform"
)

func TestAllocLocked_wholeZeroedPages(t *testing.T) {
	page := os.Getpagesize()
	for _, size := range []int{1, page - 1, page, page + 1, 64 << 10, 1 << 20} {
		mem, kind, err := platform.AllocLocked(size)
		if err != nil {
			t.Fatalf("AllocLocked(%d): %v", size, err)
		}
		switch kind {
		case platform.MemorySecret, platform.MemoryLocked, platform.MemoryPlain:
		default:
			t.Errorf("AllocLocked(%d): unknown kind %q", size, kind)
		}
		if want := (size + page - 1) / page * page; len(mem) != want || cap(mem) != want {
			t.Errorf("AllocLocked(%d): length %d, capacity %d, want %d", size, len(mem), cap(mem), want)
		}
		if len(bytes.Trim(mem, "\x00")) != 0 {
			t.Errorf("AllocLocked(%d): not zeroed", size)
		}
		for i := range mem {
			mem[i] = byte(i)
		}
		if mem[size-1] != byte(size-1) {
			t.Errorf("AllocLocked(%d): doesn't hold what was written", size)
		}
		if err := platform.FreeLocked(mem); err != nil {
			t.Errorf("FreeLocked of %d bytes: %v", size, err)
		}
	}
}

func TestAllocLocked_refuses(t *testing.T) {
	for _, size := range []int{0, -1, math.MinInt} {
		if mem, kind, err := platform.AllocLocked(size); err == nil || mem != nil || kind != platform.MemoryPlain {
			t.Errorf("AllocLocked(%d) = %d bytes, %q, %v; want an error", size, len(mem), kind, err)
		}
	}
	if mem, _, err := platform.AllocLocked(math.MaxInt - 1<<20); err == nil {
		t.Errorf("AllocLocked(nearly all memory) = %d bytes; want an error", len(mem))
	}
}
