package mask_test

import (
	"bytes"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"warder/internal/mask"
)

// TestC12_EqualOutputHoweverCut: in small alphabets, where everything overlaps, both ways of searching hide the union
// of all occurrences of both views, and nothing else.
func TestC12_EqualOutputHoweverCut(t *testing.T) {
	r := seeded(t)
	rounds := 4000
	if testing.Short() {
		rounds = 200
	}
	for range rounds {
		s := newScene(r)
		if equalHoweverCut(t, s.needles, s.text, strings.Split(s.text, ""), cut(r, s.text), cut(r, s.text)); t.Failed() {
			return
		}
	}
}

// TestC12_LargeWrites: the same in a long text, which comes in pieces of usual sizes.
func TestC12_LargeWrites(t *testing.T) {
	r := seeded(t)
	rounds, size := 3, 200<<10
	if testing.Short() {
		rounds, size = 1, 70<<10
	}
	for range rounds {
		s := newScene(r)
		many := scenes{Rand: r, alphabet: "ab1m\n"}
		var long strings.Builder
		for long.Len() < size {
			long.WriteString(many.piece(s.needles))
			if r.IntN(4) == 0 {
				long.WriteString(strings.Repeat("usual text ", r.IntN(200)))
			}
		}
		text := long.String()
		want := hideAll(text, s.needles...)
		atOnce(t, func(t *testing.T) {
			set := setOf(t, s.needles...)
			for name, prepare := range engines() {
				for _, size := range []int{len(text), 64 << 10, 32 << 10, 1000, 1} {
					if got := through(t, set, prepare, chunks(text, size)...); got != want {
						at := firstDifference(got, want)
						t.Fatalf("%s: patterns %s, writes of %d: %q\nwant %q", name, s.needles, size, excerpt(got, at), excerpt(want, at))
					}
				}
			}
		})
	}
}

func chunks(text string, size int) []string {
	var pieces []string
	for piece := range slices.Chunk([]byte(text), size) {
		pieces = append(pieces, string(piece))
	}
	return pieces
}

func firstDifference(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func excerpt(text string, at int) string {
	return text[max(0, at-100):min(len(text), at+100)]
}

// TestModel: writes, idle times and new values in any order; the output after each step is what the reference says, and
// nothing is held that it doesn't hold.
func TestModel(t *testing.T) {
	r := seeded(t)
	rounds := 1000
	if testing.Short() {
		rounds = 200
	}
	for range rounds {
		s := newScene(r)
		for name, prepare := range engines() {
			synctest.Test(t, func(t *testing.T) {
				p := newPlay(t, prepare)
				p.steps(r, s)
				if p.wrong != "" {
					t.Fatalf("%s: patterns %s, steps %q: %s", name, s.needles, p.done, p.wrong)
				}
			})
		}
	}
}

// play does the same with a writer and a reference.
type play struct {
	t     testing.TB
	set   *mask.Set
	out   screen
	w     io.WriteCloser
	says  *reference
	done  []string
	wrong string
}

func newPlay(t testing.TB, prepare func(io.WriteCloser)) *play {
	t.Helper()
	p := &play{t: t, set: setOf(t), says: newReference()}
	p.w = mask.NewWriter(&p.out, p.set)
	prepare(p.w)
	return p
}

func (p *play) add(n needle) {
	p.done = append(p.done, "+"+n.name)
	addTo(p.t, p.set, n)
	p.says.add(n)
}

func (p *play) write(text string) {
	p.done = append(p.done, text)
	if n, err := io.WriteString(p.w, text); n != len(text) || err != nil {
		p.t.Fatalf("Write(%q) = %d, %v", text, n, err)
	}
	p.says.write([]byte(text))
	p.check()
}

// pause is long enough for an early release, however the timer is set.
func (p *play) pause() {
	p.done = append(p.done, "pause")
	time.Sleep(2 * mask.IdleAfter)
	synctest.Wait()
	p.says.idle()
	p.check()
}

func (p *play) close() {
	p.done = append(p.done, "close")
	if err := p.w.Close(); err != nil {
		p.t.Fatal(err)
	}
	p.says.close()
	if got, want := p.out.String(), p.says.out.String(); got != want && p.wrong == "" {
		p.wrong = differ(got, want)
	}
}

func (p *play) check() {
	got, want := p.out.String(), p.says.out.String()
	switch held := mask.Held(p.w); {
	case p.wrong != "":
	case got != want:
		p.wrong = differ(got, want)
	case held != p.says.held():
		p.wrong = fmt.Sprintf("%d bytes held, want %d", held, p.says.held())
	}
}

func (p *play) steps(r *mathrand.Rand, s scene) {
	waiting := s.needles
	pieces := cut(r, s.text)
	if r.IntN(4) == 0 {
		pieces = strings.Split(s.text, "")
	}
	for _, piece := range pieces {
		for len(waiting) > 0 && r.IntN(3) > 0 {
			p.add(waiting[0])
			waiting = waiting[1:]
		}
		p.write(piece)
		if r.IntN(3) == 0 {
			p.pause()
		}
		if p.wrong != "" {
			break
		}
	}
	p.close()
}

// TestMarksStandAlone: what is hidden is whole marks, which don't overlap, and the text around them is the stream's.
// Marks have characters here that are in no value and no text.
func TestMarksStandAlone(t *testing.T) {
	r := seeded(t)
	for range 1000 {
		s := newScene(r)
		for i := range s.needles {
			s.needles[i].name = string(rune('P' + i))
		}
		if strings.ContainsAny(s.text, "()*") {
			s.text = strings.NewReplacer("(", "", ")", "", "*", "").Replace(s.text)
		}
		for i, n := range s.needles {
			s.needles[i].bytes = strings.NewReplacer("(", "o", ")", "o", "*", "o").Replace(n.bytes)
		}
		set := setOf(t, s.needles...)
		got := through(t, set, func(io.WriteCloser) {}, cut(r, s.text)...)
		for _, part := range strings.Split(got, "****(")[1:] {
			if len(part) < 2 || part[0] < 'P' || part[0] > 'W' || part[1] != ')' {
				t.Fatalf("patterns %s, text %q: %q", s.needles, s.text, got)
			}
		}
		bare := []byte(got)
		for i := range s.needles {
			bare = bytes.ReplaceAll(bare, []byte("****("+s.needles[i].name+")"), nil)
		}
		if bytes.ContainsAny(bare, "()*") || !subsequence(bare, []byte(s.text)) {
			t.Fatalf("patterns %s, text %q: %q", s.needles, s.text, got)
		}
		set.Destroy()
	}
}

func subsequence(part, whole []byte) bool {
	for _, c := range part {
		i := bytes.IndexByte(whole, c)
		if i < 0 {
			return false
		}
		whole = whole[i+1:]
	}
	return true
}
