package secret_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"warder/internal/secret"
)

var update = flag.Bool("update", false, "write our own scores into testdata/strength.tsv")

const golden = "testdata/strength.tsv"

func TestStrength_golden(t *testing.T) {
	file, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(file)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if strings.HasPrefix(line, "#") || len(fields) < 3 {
			out.WriteString(line)
			continue
		}
		want, reference, password := fields[0], fields[1], fields[2]
		got := secret.Strength([]byte(password))
		if other, err := strconv.Atoi(reference); err != nil || got > other+1 {
			t.Errorf("%s: score %d, zxcvbn says %s", password, got, reference)
		}
		if strconv.Itoa(got) != want && !*update {
			t.Errorf("%s: score %d, want %s", password, got, want)
		}
		fmt.Fprintf(&out, "%d\t%s\t%s\n", got, reference, password)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// seeded draws what no repository should hold: text that looks like a token. It is the same in each run.
func seeded(r *rand.Rand, set string, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[r.IntN(len(set))]
	}
	return b
}

const (
	hexDigits = "0123456789abcdef"
	lower     = "abcdefghijklmnopqrstuvwxyz"
	alnum     = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
)

func TestStrength_randomTokens(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name, set string
		n         int
	}{
		{"alphanumeric", alnum, 16},
		{"lower case and digits", lower + "0123456789", 16},
		{"lower case", lower, 16},
		{"hex", hexDigits, 24},
		{"upper hex", strings.ToUpper(hexDigits), 32},
		{"long", alnum, 64},
		{"printable", alnum + "!#$%&()*+,-./:;<=>?@[]^_{|}~", 14},
	} {
		for range 500 {
			if b := seeded(r, c.set, c.n); secret.Strength(b) != 4 {
				t.Errorf("%s: a random token of %d characters (%s) scores %d, want 4", c.name, c.n, b, secret.Strength(b))
			}
		}
	}
	// Few characters must not score by looking random.
	for range 500 {
		if b := seeded(r, alnum, 4); secret.Strength(b) > 2 {
			t.Errorf("4 random characters (%s) score %d", b, secret.Strength(b))
		}
	}
}

// What looks for known pieces must not find them everywhere: sixteen random characters of any usual set stay strong.
func TestStrength_randomStaysStrong(t *testing.T) {
	sets := []string{
		lower, strings.ToUpper(lower), lower + "0123456789", alnum, alnum + "-_", alnum + "+/",
		alnum + "`~!@#$%^&*()_+-={}[]:;'<>?,./|\\\" ", "0123456789abcdefghjkmnpqrstvwxyz", "bcdfghjkmnpqrtvwxy2346789",
	}
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SampledFrom(sets).Draw(t, "set")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)) // rapid itself prefers simple strings
		for range 50 {
			if b := seeded(r, set, 16); secret.Strength(b) != 4 {
				t.Fatalf("%s scores %d, want 4", b, secret.Strength(b))
			}
		}
	})
}

func TestStrength_passphrases(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, separator := range []string{" ", "-", ".", ""} {
		for range 500 {
			five := strings.Join(secret.SomeWords(r.IntN, 5), separator)
			if got := secret.Strength([]byte(five)); got != 4 {
				t.Errorf("%s scores %d, want 4", five, got)
			}
		}
	}
	// One word never will do, however it is dressed.
	for range 500 {
		word := secret.SomeWords(r.IntN, 1)[0]
		for _, p := range []string{word, strings.ToUpper(word[:1]) + word[1:] + "1", word + word, word + "!"} {
			if got := secret.Strength([]byte(p)); got > 2 {
				t.Errorf("%s scores %d, want at most 2", p, got)
			}
		}
	}
}

func TestStrength_caseAndAccentsHideLittle(t *testing.T) {
	for plain, dressed := range map[string]string{
		"password":  "pässwörd",
		"sunshine":  "SuNsHiNe",
		"dragon":    "drágoñ",
		"charlotte": "ch@rl0tt3",
		"elephant":  "e\u0301lephant",
		"qwertyui":  "QwErTyUi",
	} {
		p, d := secret.Strength([]byte(plain)), secret.Strength([]byte(dressed))
		if d < p || d > 1 {
			t.Errorf("%s scores %d, %s scores %d", plain, p, dressed, d)
		}
	}
}

func TestStrength_otherScripts(t *testing.T) {
	for password, want := range map[string]int{
		"":                                 0,
		"д":                                0,
		"日本":                               1,
		"\xff\xfe":                         1,
		"ддддддддддддд":                    0,
		"жираф съел слона":                 4,
		"日本語の長い合言葉です":                      4,
		"\xf3\x91\xa2\xb4\xe0\x9d\x88\xc1": 4,
	} {
		if got := secret.Strength([]byte(password)); got != want {
			t.Errorf("%q scores %d, want %d", password, got, want)
		}
	}
}

func TestStrength_onlyTheFirstCharacters(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	weak := bytes.Repeat([]byte("ab"), 32)
	if got := secret.Strength(append(bytes.Clone(weak), seeded(r, alnum, 100)...)); got != secret.Strength(weak) {
		t.Errorf("what follows 64 weak characters lifts the score to %d", got)
	}
	wide := bytes.Repeat([]byte("д"), 64) // characters, not bytes
	if got := secret.Strength(append(bytes.Clone(wide), seeded(r, alnum, 100)...)); got != secret.Strength(wide) {
		t.Errorf("what follows 64 weak characters of two bytes lifts the score to %d", got)
	}
}

// maxSteps bounds the comparisons for any input. A step takes two to three nanoseconds, so this is well under a millisecond.
const maxSteps = 150_000

func TestStrength_workIsBounded(t *testing.T) {
	hard := []string{"a", "ab", "1", "il1!|", "l1", "o0", "s5$", "1.1.11", "19", "01011901", "1qaz2wsx", "qwertyuiop", "4@", "aA", "()", "antidisestablishmentarianism", "\xff", "д", "日", "e\u0301"}
	most := 0
	for _, piece := range hard {
		for _, n := range []int{64, 1 << 20} {
			b := bytes.Repeat([]byte(piece), n/len(piece)+1)
			most = max(most, secret.Steps(b))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(append(hard, secret.SomeWords(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "i") }, 3)...)), 1, 64)
		most = max(most, secret.Steps([]byte(strings.Join(parts.Draw(t, "parts"), ""))))
	})
	if most > maxSteps {
		t.Errorf("%d steps, want at most %d", most, maxSteps)
	}
	t.Logf("at most %d steps", most)
}

func TestStrength_leavesNothingOnTheHeap(t *testing.T) {
	b := []byte("correct horse battery staple")
	secret.Strength(b)
	if n := testing.AllocsPerRun(100, func() { secret.Strength(b) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func FuzzStrength(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		got := secret.Strength(b)
		if got < 0 || got > 4 {
			t.Errorf("score %d", got)
		}
		if !bytes.Equal(b, before) {
			t.Error("the password was changed")
		}
		if again := secret.Strength(firstRunes(b, 64)); again != got {
			t.Errorf("score %d, by the first 64 characters %d", got, again)
		}
		if n := secret.Steps(b); n > maxSteps {
			t.Errorf("%d steps", n)
		}
		// Knowing all single characters is always a way, so the score can't be above that of the most that they cost.
		if most := 8 * utf8.RuneCount(b); most < 10 && got > 0 || most < 20 && got > 1 {
			t.Errorf("score %d for %d characters", got, utf8.RuneCount(b))
		}
	})
}

func firstRunes(b []byte, n int) []byte {
	end := 0
	for range n {
		_, size := utf8.DecodeRune(b[end:])
		end += size
	}
	return b[:end]
}
