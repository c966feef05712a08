package secret_test

import (
	"bytes"
	"os/exec"
	"runtime"
	"testing"

	"warder/internal/platform"
	"warder/internal/secret"
	"warder/internal/testkit"
)

func mappings() [2]int {
	slabs, large := secret.Mappings()
	return [2]int{slabs, large}
}

func TestArena_churnKeepsTheNumberOfSlabs(t *testing.T) {
	_ = secret.MemoryKind() // at least one slab
	before := mappings()
	source := make([]byte, 3000)
	times := 1_000_000
	if testing.Short() {
		times = 50_000
	}
	for i := range times {
		v, err := secret.New(source[:i%len(source)])
		if err != nil {
			t.Fatal(err)
		}
		v.Destroy()
	}
	if after := mappings(); after != before {
		t.Errorf("mappings %v, before %v", after, before)
	}
}

func TestArena_peakIsGivenBack(t *testing.T) {
	var all []secret.Value
	for range 100 {
		all = append(all, newValue(t, make([]byte, 20_000)), newValue(t, make([]byte, secret.SlabSize+1)))
	}
	if peak := mappings(); peak[0] < 33 || peak[1] < 100 {
		t.Errorf("mappings at the peak: %v; want at least 33 slabs and 100 large ones", peak)
	}
	for _, v := range all {
		v.Destroy()
	}
	if rest := mappings(); rest[0] > 2 || rest[1] != 0 {
		t.Errorf("mappings after the peak: %v; want one or two slabs", rest)
	}
}

func TestArena_sharesSlabsAmongSizes(t *testing.T) {
	before := mappings()
	for n := 16; n <= secret.SlabSize/4; n *= 2 {
		newValue(t, make([]byte, n))
	}
	if after := mappings(); after[0] > before[0]+1 {
		t.Errorf("one secret of each size: mappings %v, before %v; want one slab at most", after, before)
	}
}

func TestArena_freedBytesAreGone(t *testing.T) {
	for _, n := range []int{1, 16, 100, 5000} {
		keeper := newValue(t, []byte("keeps a slab mapped"))
		v := newValue(t, bytes.Repeat([]byte{0xff}, n))
		var kept []byte
		_ = v.Use(func(b []byte) { kept = b })
		v.Destroy()
		if len(bytes.Trim(kept, "\x00")) != 0 {
			t.Errorf("%d bytes stay after Destroy", n)
		}
		runtime.KeepAlive(keeper)
	}
}

func TestArena_forgottenSecretIsWiped(t *testing.T) {
	keeper := newValue(t, []byte("keeps the slab mapped"))
	var kept []byte
	func() {
		v, err := secret.New([]byte("forgotten"))
		if err != nil {
			t.Fatal(err)
		}
		_ = v.Use(func(b []byte) { kept = b })
	}()
	for range 1000 {
		runtime.GC() // cleanups run some time after the collection that finds the value
		runtime.Gosched()
		gone := false
		secret.WhileArenaIsLocked(func() { gone = len(bytes.Trim(kept, "\x00")) == 0 })
		if gone {
			runtime.KeepAlive(keeper)
			return
		}
	}
	t.Error("the bytes stay")
}

func TestMemoryKind_isOneOfTheSystems(t *testing.T) {
	mem, want, err := platform.AllocLocked(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := platform.FreeLocked(mem); err != nil {
		t.Fatal(err)
	}
	if got := secret.MemoryKind(); got != want && got != platform.MemoryPlain {
		t.Errorf("MemoryKind = %q, want %q", got, want)
	}
}

// limited is set in the environment of a test that runs under a lock limit.
const limited = "WARDER_TEST_LOCK_LIMIT"

func TestArena_spentLockLimitIsNoError(t *testing.T) {
	if testkit.AsUser(t) { // root may lock without a limit
		return
	}
	if !isSet(limited) {
		rerun(t, limited, "sh", "-c", `ulimit -l 64 && exec "$0" "$@"`)
		return
	}
	first := newValue(t, random(t, 32))
	if kind := secret.MemoryKind(); kind == platform.MemoryPlain {
		t.Skipf("nothing can be locked here: kind %q", kind)
	}
	large := newValue(t, make([]byte, secret.SlabSize+1))
	if kind := secret.MemoryKind(); kind != platform.MemoryPlain {
		t.Errorf("with a large secret beyond the limit: kind %q, want %q", kind, platform.MemoryPlain)
	}
	large.Destroy()
	if kind := secret.MemoryKind(); kind == platform.MemoryPlain {
		t.Errorf("without it: kind %q", kind)
	}
	before := mappings()
	for i := range 200 {
		want := random(t, 1000*(i%100))
		if got := reveal(t, newValue(t, want)); !bytes.Equal(got, want) {
			t.Fatalf("secret %d beyond the limit is damaged", i)
		}
	}
	if after := mappings(); after[0] <= before[0] || after[1] == 0 {
		t.Errorf("mappings %v, before %v: the limit wasn't reached", after, before)
	}
	if kind := secret.MemoryKind(); kind != platform.MemoryPlain {
		t.Errorf("beyond the limit: kind %q, want %q", kind, platform.MemoryPlain)
	}
	if first.Len() != 32 {
		t.Error("the first secret is gone")
	}
}

// rerun starts this test again in a process of its own, under the given program, and takes over its verdict.
func rerun(t *testing.T, mark string, program ...string) {
	t.Helper()
	path, err := exec.LookPath(program[0])
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), path, append(program[1:], self(t), "-test.run=^"+t.Name()+"$", "-test.v")...)
	cmd.Env = append(cmd.Environ(), mark+"=1")
	out, err := cmd.CombinedOutput()
	t.Logf("in a process of its own:\n%s", out)
	if err != nil {
		t.Error(err)
	}
	if bytes.Contains(out, []byte("--- SKIP")) {
		t.Skip("skipped there")
	}
}
