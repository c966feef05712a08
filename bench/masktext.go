package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// namedKey is a made up key.
type namedKey struct{ name, key string }

// randomKeys are keys of 20 to 64 characters with the beginnings that keys have.
func randomKeys(r *rand.Rand, n int) []namedKey {
	prefixes := []string{"ghp_", "sk-", "AKIA", "glpat-", "xoxb-", "npm_", "", "", ""}
	keys := make([]namedKey, n)
	for i := range keys {
		prefix := prefixes[r.IntN(len(prefixes))]
		keys[i] = namedKey{fmt.Sprintf("KEY_%d", i), prefix + letters(r, 20+r.IntN(45)-len(prefix))}
	}
	return keys
}

// letters are n random letters and digits.
func letters(r *rand.Rand, n int) string {
	const all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = all[r.IntN(len(all))]
	}
	return string(b)
}

// logLine is a line as compilers, package managers, test runners and servers print them.
func logLine(r *rand.Rand) string {
	words := strings.Fields(`accepted archive building bundle cached checksum client closed commit compiling config connect container copying
		coverage database dependency deploying download duration elapsed expected fetching file finished fixture generated handler hash
		ignored image index installing invalid job kernel latency layer library linking listening loaded manifest merging migration module
		network object opened package parsed passed pending pipeline process pulling queue ready refused release request resolved
		response retry runner scheduled schema server session skipped stage started symbol target timeout token uploaded version warning worker`)
	word := func() string { return words[r.IntN(len(words))] }
	switch r.IntN(7) {
	case 0:
		return fmt.Sprintf("time=2026-%02d-%02dT%02d:%02d:%02d.%03dZ level=INFO msg=%q %s=%d %s=%s", 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000), word()+" "+word()+" "+word(), word(), r.IntN(100_000), word(), word())
	case 1:
		return fmt.Sprintf("ok  \texample.org/%s/%s/%s\t%d.%03ds\tcoverage: %d.%d%% of statements", word(), word(), word(), r.IntN(60), r.IntN(1000), r.IntN(100), r.IntN(10))
	case 2:
		return fmt.Sprintf("[%d/%d] cc -O2 -I../include/%s -c %s/%s_%s.c -o obj/%s.o", r.IntN(900), 900, word(), word(), word(), word(), word())
	case 3:
		return fmt.Sprintf(`10.%d.%d.%d - - "GET /api/v%d/%s/%s?page=%d HTTP/1.1" %d %d "%s/%d.%d"`, r.IntN(256), r.IntN(256), r.IntN(256), 1+r.IntN(3), word(), word(), r.IntN(500), 200+r.IntN(5), r.IntN(100_000), word(), r.IntN(20), r.IntN(20))
	case 4:
		return fmt.Sprintf("sha256:%016x%016x%016x%016x %s %s", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), word(), word())
	case 5:
		return fmt.Sprintf(`{"ts":%d.%03d,"level":"debug","logger":"%s.%s","msg":"%s %s %s","id":"%08x","n":%d}`, 1_790_000_000+r.IntN(1_000_000), r.IntN(1000), word(), word(), word(), word(), word(), r.Uint32(), r.IntN(10_000))
	}
	return fmt.Sprintf("%s/%s/%s.go:%d:%d: %s of %s is %s, %s the %s of %s", word(), word(), word(), r.IntN(2000), r.IntN(120), word(), word(), word(), word(), word(), word())
}

// buildLog is size bytes of such lines with a key at each distance; 0: without any.
func buildLog(r *rand.Rand, size, distance int, keys []namedKey) []byte {
	lines := make([]string, 10_000)
	for i := range lines {
		lines[i] = logLine(r) + "\n"
	}
	text := make([]byte, 0, size+512)
	next := distance
	for len(text) < size {
		text = append(text, lines[r.IntN(len(lines))]...)
		if distance > 0 && len(text) >= next {
			text = append(append(append(text, "token="...), keys[r.IntN(len(keys))].key...), '\n')
			next = len(text) + distance
		}
	}
	return text[:size]
}

// colourful is text of which a tenth is ESC bytes: five characters of it, and a sequence of five bytes, by turns.
func colourful(r *rand.Rand, size int, keys []namedKey) []byte {
	plain := buildLog(r, size, 100<<10, keys)
	text := make([]byte, 0, size+64)
	for at := 0; len(text) < size; {
		n := min(3+r.IntN(5), len(plain)-at)
		text = append(append(text, plain[at:at+n]...), "\x1b[3"...)
		text = append(text, byte('0'+r.IntN(8)), 'm')
		if at += n; at == len(plain) {
			at = 0
		}
	}
	return text[:size]
}

// nearMisses is nothing but keys, each cut short.
func nearMisses(r *rand.Rand, size int, keys []namedKey) []byte {
	text := make([]byte, 0, size+64)
	for len(text) < size {
		k := keys[r.IntN(len(keys))].key
		text = append(append(text, k[:len(k)-1-r.IntN(len(k)/2)]...), '#')
	}
	return text[:size]
}

// base64Lines is random base64 in lines of 76.
func base64Lines(r *rand.Rand, size int) []byte {
	var b bytes.Buffer
	for b.Len() < size {
		b.WriteString(letters(r, 76))
		b.WriteByte('\n')
	}
	return b.Bytes()[:size]
}

// weakSpot is keys and a text that are alike: what makes a search by samples slow.
type weakSpot struct {
	name string
	keys []namedKey
	text []byte
}

func weakSpots(r *rand.Rand, size int) []weakSpot {
	start, end := letters(r, 48), letters(r, 30)
	common, both := make([]namedKey, 1000), make([]namedKey, 1000)
	for i := range common {
		common[i] = namedKey{fmt.Sprint(i), start + letters(r, 16)}
		both[i] = namedKey{fmt.Sprint(i), end + letters(r, 4) + end}
	}
	stairs := make([]namedKey, 44)
	for i := range stairs {
		stairs[i] = namedKey{fmt.Sprint(i), strings.Repeat("a", 20+i) + "b"}
	}
	var near, between []byte
	for len(near) < size {
		near = append(append(append(near, start...), letters(r, 15)...), '#')
	}
	for len(between) < size {
		between = append(append(append(append(between, end...), letters(r, 4)...), end...), '#')
	}
	as := bytes.Repeat([]byte("a"), size)
	forty := strings.Repeat("a", 40)
	return []weakSpot{
		{"1000 values with a common start, near misses", common, near},
		{"1000 values with a common start and end, near misses", both, between},
		{"40 times a and b, in a's", []namedKey{{"A", forty + "b"}}, as},
		{"40 times a, in a's", []namedKey{{"A", forty}}, as},
		{"44 values of a's and a b, in a's", stairs, as},
	}
}
