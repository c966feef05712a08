package state

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OptionKind is the form of an option's value.
type OptionKind string

// The forms of a value. In the file, a duration, string or word is a string; a
// size is a string with its unit or a number of bytes.
const (
	KindDuration OptionKind = "duration" // as Go writes them: "90s", "8h", "1h30m"
	KindSize     OptionKind = "size"     // bytes: "4096", "512KiB", "50MiB", "2GiB"
	KindInt      OptionKind = "int"
	KindBool     OptionKind = "bool"
	KindString   OptionKind = "string"
	KindEnum     OptionKind = "enum" // one of Option.Words
)

// Option is one row of the table of options, from which the settings, their
// checks and their documentation come.
type Option struct {
	Name     string // in the file and as a flag: "lock.idle"
	Kind     OptionKind
	Default  string // in the form of a flag
	Env      string // the environment variable, of what a client reads itself; a daemon trusts no environment
	Min, Max int64  // bounds: nanoseconds, bytes or plain; not for bool, string, enum
	Words    []string
	Doc      string // one sentence
}

// Options returns the table of options, in the order in which they are listed.
func Options() []Option {
	const (
		second, minute, hour = int64(time.Second), int64(time.Minute), int64(time.Hour)
		mib                  = 1 << 20
	)
	return []Option{
		{
			Name: "lock.idle", Kind: KindDuration, Default: "8h", Min: minute, Max: 720 * hour,
			Doc: "Lock the account after this long without a person's act.",
		},
		{
			Name: "lock.max", Kind: KindDuration, Default: "12h", Min: minute, Max: 720 * hour,
			Doc: "Lock the account this long after it was unlocked, used or not.",
		},
		{
			Name: "audit.max_size", Kind: KindSize, Default: "50MiB", Min: mib, Max: 1 << 40,
			Doc: "Begin a new audit file when the current one has grown to this size.",
		},
		{
			Name: "audit.generations", Kind: KindInt, Default: "3", Min: 1, Max: 1000,
			Doc: "Keep this many closed audit files beside the current one.",
		},
		{
			Name: "approval.wait", Kind: KindDuration, Default: "120s", Min: second, Max: hour,
			Doc: "Let a caller wait this long for a person's answer before it is told to come back.",
		},
		{
			Name: "approval.expire", Kind: KindDuration, Default: "10m", Min: second, Max: 24 * hour,
			Doc: "Refuse a request that no person has answered for this long.",
		},
		{
			Name: "guard.mode", Kind: KindEnum, Default: "open", Env: "WARDER_GUARD_MODE", Words: []string{"open", "closed"},
			Doc: "What a client's hook does when the daemon can't be asked: let the call pass (open) or stop it (closed).",
		},
	}
}

// parse reads a value in the form of a flag. The result is a time.Duration, an
// int64 (size and int), a bool or a string.
func (o Option) parse(text string) (any, error) {
	switch o.Kind {
	case KindDuration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("%s is not a duration such as 90s or 8h", excerpt(text))
		}
		return d, o.inBounds(int64(d), text)
	case KindSize:
		n, ok := parseSize(text)
		if !ok {
			return nil, fmt.Errorf("%s is not a size such as 512KiB or 50MiB", excerpt(text))
		}
		return n, o.inBounds(n, text)
	case KindInt:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s is not a whole number", excerpt(text))
		}
		return n, o.inBounds(n, text)
	case KindBool:
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("%s is neither true nor false", excerpt(text))
		}
		return text == "true", nil
	case KindEnum:
		if !slices.Contains(o.Words, text) {
			return nil, fmt.Errorf("%s is none of %s", excerpt(text), strings.Join(o.Words, ", "))
		}
		return text, nil
	case KindString:
		return text, nil
	default:
		return nil, fmt.Errorf("option %s has the unknown kind %q", o.Name, o.Kind)
	}
}

// inBounds refuses a value outside the option's bounds: a slip of the unit
// must not lock an account every second, or never.
func (o Option) inBounds(n int64, text string) error {
	if n < o.Min || n > o.Max {
		return fmt.Errorf("%s is outside %s to %s", excerpt(text), o.format(o.Min), o.format(o.Max))
	}
	return nil
}

func (o Option) format(n int64) string {
	switch o.Kind {
	case KindDuration:
		return time.Duration(n).String()
	case KindSize:
		return strconv.FormatInt(n, 10) + " bytes"
	default:
		return strconv.FormatInt(n, 10)
	}
}

// parseSize reads a number of bytes with an optional binary unit.
func parseSize(text string) (int64, bool) {
	unit := int64(1)
	digits := text
	for i, suffix := range []string{"KiB", "MiB", "GiB"} {
		if rest, found := strings.CutSuffix(text, suffix); found {
			digits, unit = rest, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, false
	}
	return n * unit, true
}

// excerpt quotes a value for a message, so that it can't steer a terminal, and
// keeps it short.
func excerpt(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return strconv.QuoteToASCII(string(runes[:most])) + "…"
	}
	return strconv.QuoteToASCII(text)
}
