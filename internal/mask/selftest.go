package mask

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"warder/internal/secret"
)

// Tried is one form in which programs spell values, and whether it was hidden. Form is for people to read.
type Tried struct {
	Form   string
	Hidden bool
}

// SelfTest makes values up, prints each spelling of each form of them through a writer, in one piece and byte by byte,
// and tells what was hidden: people should see it at work before they trust it. The order of what it tells is always the
// same.
func SelfTest() ([]Tried, error) {
	s, err := newSelfTest()
	if err != nil {
		return nil, fmt.Errorf("testing the masker: %w", err)
	}
	defer s.destroy()
	tried, err := s.run()
	if err != nil {
		return nil, fmt.Errorf("testing the masker: %w", err)
	}
	return tried, nil
}

// selfTest is values that guard nothing, so that they may lie in ordinary memory.
type selfTest struct {
	values         [][]byte
	user           []byte
	usual, widened *Set // the second one looks for more forms
}

const (
	selfTestName = "SELF-TEST"
	mostTries    = 20
)

func newSelfTest() (*selfTest, error) {
	binary := make([]byte, 40)
	_, _ = rand.Read(binary)
	for i, c := range binary {
		if c == '\x1b' { // a value with escape sequences of its own is not found where others interrupt it
			binary[i] = 0
		}
	}
	one, two := rand.Text(), rand.Text()
	s := &selfTest{user: []byte("user-" + rand.Text()[:5]), usual: NewSet(), widened: NewSet()}
	for _, text := range []string{
		one,
		two + "\t\"quoted\" 'too' \\ <&> /?~+=%$!`# \u00e9\u2028\U0001f511\x01\x7f" + rand.Text(),
		string(binary),
		rand.Text() + " \"one\"\n\t" + rand.Text() + " two\n\n" + rand.Text() + "\n",
		rand.Text() + "\r\n" + rand.Text() + "\r\n",
		`{"key": "` + rand.Text() + `\n` + rand.Text() + `\n"}`,
	} {
		s.values = append(s.values, []byte(text))
	}
	for _, v := range s.values {
		err := errors.Join(s.add(s.usual, v, ValueOptions{}), s.add(s.widened, v, ValueOptions{Extended: true}))
		if err != nil {
			s.destroy()
			return nil, err
		}
	}
	return s, nil
}

func (s *selfTest) add(set *Set, v []byte, o ValueOptions) error {
	value, err := secret.New(bytes.Clone(v))
	if err != nil {
		return err
	}
	defer value.Destroy()
	if o.User, err = secret.New(bytes.Clone(s.user)); err != nil {
		return err
	}
	defer o.User.Destroy()
	return set.Add(selfTestName, value, o)
}

func (s *selfTest) destroy() {
	s.usual.Destroy()
	s.widened.Destroy()
}

// spelt are the spellings of a form.
type spelt struct {
	form  string
	folds bool
	texts [][]byte
}

// run tries all forms.
func (s *selfTest) run() ([]Tried, error) {
	usual := append([]spelt{{form: "as it is", texts: s.values}}, s.spelt(ValueOptions{})...)
	var tried []Tried
	try := func(form string, set *Set, texts [][]byte, change func([]byte) []byte) error {
		hidden, err := hides(set, texts, change)
		if i := slices.IndexFunc(tried, func(t Tried) bool { return t.Form == form }); i >= 0 {
			tried[i].Hidden = tried[i].Hidden && hidden
		} else {
			tried = append(tried, Tried{form, hidden})
		}
		return err
	}
	same := func(b []byte) []byte { return b }
	var failed error
	for _, f := range usual {
		failed = errors.Join(failed, try(f.form, s.usual, f.texts, same))
		if !f.folds {
			continue
		}
		for _, width := range []int{76, 64, 19} {
			for _, end := range []string{"\n", "\r\n"} {
				fold := func(b []byte) []byte { return bytes.Join(slices.Collect(slices.Chunk(b, width)), []byte(end)) }
				failed = errors.Join(failed, try(f.form+", folded", s.usual, f.texts, fold))
			}
		}
	}
	for _, f := range usual {
		failed = errors.Join(failed, try("interrupted by colour", s.usual, f.texts, coloured))
	}
	for _, f := range s.spelt(ValueOptions{Extended: true}) {
		if !slices.ContainsFunc(usual, func(u spelt) bool { return u.form == f.form }) {
			failed = errors.Join(failed, try("extended: "+f.form, s.widened, f.texts, same))
		}
	}
	return tried, failed
}

// spelt are the spellings of all values, by form.
func (s *selfTest) spelt(o ValueOptions) []spelt {
	var found []spelt
	for _, f := range slices.Concat(codes(s.user, o), escapes(), pieces()) {
		found = append(found, spelt{form: f.name, folds: f.folds})
	}
	for _, v := range s.values {
		apply, room := formsOf(v, s.user, o)
		scratch := make([]byte, room)
		for _, f := range apply {
			i := slices.IndexFunc(found, func(s spelt) bool { return s.form == f.name })
			f.spell(v, scratch[:0:f.room(len(v))], func(b []byte) {
				if len(b) >= MinLength {
					found[i].texts = append(found[i].texts, bytes.Clone(b))
				}
			})
		}
	}
	return found
}

// coloured is text of which a program has lit up a part, as grep does.
func coloured(b []byte) []byte {
	third := len(b) / 3
	return slices.Concat(b[:third], []byte("\x1b[01;31m\x1b[K"), b[third:2*third], []byte("\x1b[m\x1b[K"), b[2*third:])
}

// hides reports whether all texts, each changed, are hidden. None are not: nothing was tried.
func hides(set *Set, texts [][]byte, change func([]byte) []byte) (bool, error) {
	hidden := len(texts) > 0
	for _, text := range texts {
		text = change(text)
		for _, size := range []int{len(text), 1} {
			ok, err := hidesPieces(set, text, size)
			if err != nil {
				return false, err
			}
			hidden = hidden && ok
		}
	}
	return hidden, nil
}

// hidesPieces reports whether nothing but a mark comes out of text in writes of some size. A writer that waits lets a few
// bytes go, which must not count when it was the machine that made it wait.
func hidesPieces(set *Set, text []byte, size int) (bool, error) {
	for range mostTries {
		var out strings.Builder
		begun := time.Now()
		w := NewWriter(&out, set)
		for piece := range slices.Chunk(text, size) {
			if _, err := w.Write(piece); err != nil {
				return false, errors.Join(err, w.Close())
			}
		}
		if err := w.Close(); err != nil {
			return false, err
		}
		if withoutSequences(out.String()) == marksFor(selfTestName)[0] {
			return true, nil
		}
		if time.Since(begun) < IdleAfter {
			break
		}
	}
	return false, nil
}

// withoutSequences is text without the sequences that coloured puts in, which may be passed on.
func withoutSequences(text string) string {
	return strings.NewReplacer("\x1b[01;31m", "", "\x1b[m", "", "\x1b[K", "").Replace(text)
}
