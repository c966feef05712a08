package platform_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"warder/internal/platform"
)

func TestHiddenLine(t *testing.T) {
	long := strings.Repeat("x", 8)
	for _, row := range []struct {
		name, keys string
		want       string
		err        error
	}{
		{"a line", "open\n", "open", nil},
		{"carriage return", "open\r", "open", nil},
		{"nothing", "\n", "", nil},
		{"the most that fits", long + "\n", long, nil},
		{"one too many", long + "x\n", long, platform.ErrLineTooLong},
		{"too many, then killed", long + "x\x15ok\n", "ok", nil},
		{"too many, then erased", long + "x\x7f\n", long[1:], platform.ErrLineTooLong},
		{"erased", "ab\x7fc\n", "ac", nil},
		{"backspace", "ab\bc\n", "ac", nil},
		{"erased beyond the start", "a\x7f\x7f\x7fb\n", "b", nil},
		{"a wide character erased", "aé\x7fb\n", "ab", nil},
		{"a broken character erased", "a\xc3\x7fb\n", "ab", nil},
		{"killed", "wrong\x15right\n", "right", nil},
		{"interrupted", "ab\x03", "ab", platform.ErrInterrupted},
		{"quit", "ab\x1c", "ab", platform.ErrInterrupted},
		{"end of file", "\x04", "", io.EOF},
		{"end after text", "ab\x04", "ab", nil},
		{"other control keys are text", "a\x01\x1a\n", "a\x01\x1a", nil},
		{"switched off keys are text", "a\x00b\n", "a\x00b", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := platform.FeedHiddenLine([]byte(row.keys+"rest"), len(long))
			if string(got.Line) != row.want || !errors.Is(got.Err, row.err) {
				t.Errorf("got %q, %v; want %q, %v", got.Line, got.Err, row.want, row.err)
			}
			if got.Taken != len(row.keys) {
				t.Errorf("took %d keys, want %d: the rest belongs to the next reader", got.Taken, len(row.keys))
			}
		})
	}
}

// FuzzHiddenLine: whatever is typed, nothing that was erased stays in the
// buffer, and no byte is written beyond it.
func FuzzHiddenLine(f *testing.F) {
	f.Fuzz(func(t *testing.T, keys []byte, limit int) {
		limit = max(0, min(limit, 64))
		got := platform.FeedHiddenLine(keys, limit)
		if len(got.Buf) != limit {
			t.Fatalf("the buffer has %d bytes, want %d", len(got.Buf), limit)
		}
		if rest := got.Buf[len(got.Line):]; !bytes.Equal(rest, make([]byte, len(rest))) {
			t.Errorf("beyond the line stays %q", rest)
		}
		if bytes.ContainsAny(got.Line, "\r\n\x03\x15") {
			t.Errorf("line %q holds a key that ends it, error %v", got.Line, got.Err)
		}
	})
}
