package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"warder/internal/secret"
	"warder/internal/vault"
)

const wrongPassword = "not the right passphrase 12 at all"

// guesses is an account whose clock a test sets.
type guesses struct {
	t   *testing.T
	cfg vault.Config
	kit *vault.Kit
	mu  sync.Mutex
	at  time.Time
}

func newGuesses(t *testing.T) *guesses {
	t.Helper()
	g := &guesses{t: t, at: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	g.cfg = config(newScene(t).dir)
	g.cfg.Now = func() time.Time {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.at
	}
	a, kit := create(t, g.cfg)
	a.Lock()
	g.kit = kit
	return g
}

// pass moves the clock.
func (g *guesses) pass(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.at = g.at.Add(d)
}

// try opens the account with a password and gives it up again.
func (g *guesses) try(pw string) error {
	g.t.Helper()
	a, err := vault.Open(g.cfg, value(g.t, pw))
	if err == nil {
		a.Lock()
	}
	return err
}

// wrong guesses wrong and wants that to be judged.
func (g *guesses) wrong() {
	g.t.Helper()
	if err := g.try(wrongPassword); !errors.Is(err, vault.ErrWrongPassword) {
		g.t.Fatalf("a wrong password: %v", err)
	}
}

// right opens the account.
func (g *guesses) right() {
	g.t.Helper()
	if err := g.try(password); err != nil {
		g.t.Fatalf("the right password: %v", err)
	}
}

// mustWait wants even the right password refused for so long.
func (g *guesses) mustWait(want time.Duration) {
	g.t.Helper()
	var wait *vault.WaitError
	if err := g.try(password); !errors.As(err, &wait) || wait.Wait != want {
		g.t.Fatalf("got %v, want to wait for %v", err, want)
	}
}

// guessed leaves on disk what so many wrong guesses would.
func (g *guesses) guessed(n int) {
	g.t.Helper()
	text := fmt.Sprintf(`{"failures":%d,"last":%d}`, n, g.at.UnixMilli())
	writeFile(g.t, filepath.Join(g.cfg.StateDir, "device", "attempts"), []byte(text))
}

// TestBackOff: each wrong password makes the next try wait, 1, 2, 4 … 60 seconds, whichever process makes it. A right one resets that.
func TestBackOff(t *testing.T) {
	g := newGuesses(t)
	for _, waits := range [][]int{{1, 2, 4, 8, 16, 32, 60, 60, 60}, {1, 2}} {
		for _, seconds := range waits {
			g.wrong()
			wait := time.Duration(seconds) * time.Second
			g.mustWait(wait)
			g.mustWait(wait) // being refused neither counts nor shortens
			g.pass(wait - time.Millisecond)
			g.mustWait(time.Millisecond)
			g.pass(time.Millisecond)
		}
		g.right()
		g.right()
	}
	g.wrong()
	g.mustWait(time.Second)
}

// TestBackOffClock: a clock that jumps never locks for longer than a minute, and going back does not open.
func TestBackOffClock(t *testing.T) {
	const year = 365 * 24 * time.Hour
	g := newGuesses(t)
	for _, jump := range []time.Duration{-time.Millisecond, -time.Second, -time.Hour, -year} {
		g.guessed(7)
		g.pass(jump)
		g.mustWait(time.Minute)
		g.pass(30 * time.Second)
		g.mustWait(30 * time.Second)
		g.pass(30 * time.Second)
		g.right()
	}
	g.guessed(7)
	g.pass(year)
	g.right()
}

// TestBackOffOfRecovery: codes are guessed no faster than passwords. A mistyped one is no guess.
func TestBackOffOfRecovery(t *testing.T) {
	g := newGuesses(t)
	_, other, err := vault.Create(config(newScene(t).dir), value(t, password))
	must(t, err)
	t.Cleanup(other.Destroy)
	recover := func(code secret.Value) error {
		a, kit, err := vault.Recover(g.cfg, code, value(t, freshPassword))
		if err == nil {
			kit.Destroy()
			a.Lock()
		}
		return err
	}
	for range 3 {
		if err := recover(value(t, "0000-1111")); err == nil || errors.Is(err, vault.ErrWrongPassword) {
			t.Fatalf("a mistyped code: %v", err)
		}
	}
	var wait *vault.WaitError
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		if err := recover(other.RecoveryCode); !errors.Is(err, vault.ErrWrongPassword) {
			t.Fatalf("another account's code: %v", err)
		}
		if err := recover(g.kit.RecoveryCode); !errors.As(err, &wait) || wait.Wait != pause {
			t.Fatalf("the right code at once: %v", err)
		}
		g.mustWait(pause)
		g.pass(pause)
	}
	g.wrong()
	if err := recover(g.kit.RecoveryCode); !errors.As(err, &wait) || wait.Wait != 8*time.Second {
		t.Fatalf("the right code after a wrong password: %v", err)
	}
	g.pass(8 * time.Second)
	must(t, recover(g.kit.RecoveryCode))
	if err := g.try(freshPassword); err != nil {
		t.Errorf("after a right code: %v", err)
	}
}

// TestBackOffOfPasswordChange: the old password of an account that is open is guessed no faster either.
func TestBackOffOfPasswordChange(t *testing.T) {
	g := newGuesses(t)
	a := open(t, g.cfg)
	change := func(old string) error { return a.ChangePassword(value(t, old), value(t, freshPassword)) }
	if err := change(wrongPassword); !errors.Is(err, vault.ErrWrongPassword) {
		t.Fatal(err)
	}
	var wait *vault.WaitError
	if err := change(password); !errors.As(err, &wait) || wait.Wait != time.Second {
		t.Fatalf("at once: %v", err)
	}
	g.mustWait(time.Second)
	g.pass(time.Second)
	must(t, change(password))
	if err := g.try(freshPassword); err != nil {
		t.Error(err)
	}
}

// TestBackOffAtOnce: of many guesses made at the same time one is judged.
func TestBackOffAtOnce(t *testing.T) {
	g := newGuesses(t)
	t.Run("goroutines", func(t *testing.T) {
		errs := make([]error, 12)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = g.try(wrongPassword) })
		}
		wg.Wait()
		oneJudged(t, errs)
	})
	g.pass(time.Hour)
	g.right()
	t.Run("processes", func(t *testing.T) {
		j := job{Name: "guessing", Dir: filepath.Dir(g.cfg.AccountDir), Text: wrongPassword}
		var errs []error
		for _, r := range together(t, j, j, j, j) {
			switch {
			case r["waits"] != "":
				errs = append(errs, &vault.WaitError{})
			case r["wrong"] != "":
				errs = append(errs, vault.ErrWrongPassword)
			}
		}
		if len(errs) != 4 {
			t.Errorf("%d of 4 processes were refused", len(errs))
		}
		oneJudged(t, errs)
	})
}

func oneJudged(t *testing.T, errs []error) {
	t.Helper()
	judged, waits := 0, 0
	for _, err := range errs {
		var wait *vault.WaitError
		if errors.As(err, &wait) {
			waits++
		} else if errors.Is(err, vault.ErrWrongPassword) {
			judged++
		}
	}
	if judged != 1 || waits != len(errs)-1 {
		t.Errorf("%d guesses were judged and %d had to wait: %v", judged, waits, errs)
	}
}

// guess tries a password at the same time as other processes; the clock stands still, so that how fast they are does not matter.
func guess(t *testing.T, j job) {
	cfg := config(j.Dir)
	cfg.Now = func() time.Time { return time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) }
	ready(t)
	a, err := vault.Open(cfg, value(t, j.Text))
	var wait *vault.WaitError
	switch {
	case err == nil:
		a.Lock()
	case errors.As(err, &wait):
		tell("waits", wait.Wait)
	case errors.Is(err, vault.ErrWrongPassword):
		tell("wrong", err)
	default:
		t.Fatal(err)
	}
}

// TestBackOffWhenKilled: to die while a guess is judged does not hide that it was made.
func TestBackOffWhenKilled(t *testing.T) {
	s := newScene(t)
	must(t, os.MkdirAll(s.dir, 0o700))
	prepareSecond(t, s)
	// The first step of unlocking counts the try, the second forgets it.
	if _, killed := runChild(t, job{Name: "enrolling a second device", Dir: s.dir, Die: death{2, nothing}}); !killed {
		t.Fatal("the child lives")
	}
	var wait *vault.WaitError
	cfg := s.second()
	now := time.Now()
	cfg.Now = func() time.Time { return now }
	if _, err := vault.Open(cfg, value(t, password)); !errors.As(err, &wait) {
		t.Errorf("at once: %v", err)
	}
	now = now.Add(time.Minute)
	open(t, cfg)
}

// TestBackOffFile: neither a damaged count nor a lost one locks the owner out, and what is no guess is not counted.
func TestBackOffFile(t *testing.T) {
	g := newGuesses(t)
	file := filepath.Join(g.cfg.StateDir, "device", "attempts")
	for _, text := range []string{"", "x", "{", `{"failures":-1}`, `{"failures":9007199254740993}`, `{"last":1}`, `{"failures":99999999999999999999}`} {
		writeFile(t, file, []byte(text))
		g.right()
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q is still there", text)
		}
	}
	writeFile(t, file, []byte("x"))
	g.wrong()
	g.mustWait(2 * time.Second) // a damaged count is one guess long ago
	g.pass(time.Minute)
	g.right()
	must(t, os.Rename(filepath.Join(g.cfg.StateDir, "device", "secret"), filepath.Join(g.cfg.StateDir, "aside")))
	if err := g.try(password); !errors.Is(err, vault.ErrNoDeviceSecret) {
		t.Errorf("without a device secret: %v", err)
	}
	must(t, os.Rename(filepath.Join(g.cfg.StateDir, "aside"), filepath.Join(g.cfg.StateDir, "device", "secret")))
	g.right()
}
