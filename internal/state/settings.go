package state

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Setting is the value of one option and where it came from.
type Setting[T any] struct {
	Value T
	Text  string // as it was written there
	From  Origin
}

// Settings hold a value for every option of [Options].
type Settings struct {
	LockIdle         Setting[time.Duration] // lock.idle
	LockMax          Setting[time.Duration] // lock.max
	AuditMaxSize     Setting[int64]         // audit.max_size, bytes
	AuditGenerations Setting[int64]         // audit.generations
	ApprovalWait     Setting[time.Duration] // approval.wait
	ApprovalExpire   Setting[time.Duration] // approval.expire
	GuardMode        Setting[string]        // guard.mode: "open" or "closed"
}

// Warning is something in the settings that was passed over. The rest counts.
type Warning struct {
	From Origin
	Text string
}

// String returns "where: what".
func (w Warning) String() string { return w.From.String() + ": " + w.Text }

// LoadSettings makes one of the text of the settings file (TOML; path is its
// name for origins and messages), the environment and the flags that were
// given, by option name. A flag counts before the environment, that before the
// file, that before the default.
//
// An unknown key or a bad value in the file, and a bad value in the
// environment, is a warning: the value of the next rank stays and nothing else
// is lost. An unknown or bad flag is an error, as is a file that is not TOML;
// the Settings returned beside an error are complete without them.
func LoadSettings(file []byte, path string, env func(string) string, flags map[string]string) (Settings, []Warning, error) {
	var s Settings
	var warnings []Warning
	options := Options()
	for _, o := range options {
		if err := s.set(o, o.Default, Origin{}); err != nil {
			return s, nil, fmt.Errorf("default of option %s: %w", o.Name, err)
		}
	}
	entries, fileErr := readTOML(file, path)
	for _, e := range entries {
		if err := s.setEntry(options, e); err != nil {
			warnings = append(warnings, Warning{From: e.from, Text: err.Error()})
		}
	}
	for _, o := range options {
		text := ""
		if o.Env != "" {
			text = env(o.Env)
		}
		if text == "" {
			continue
		}
		from := Origin{Kind: FromEnvironment, Name: o.Env}
		if err := s.set(o, text, from); err != nil {
			warnings = append(warnings, Warning{From: from, Text: err.Error()})
		}
	}
	return s, warnings, errors.Join(fileErr, s.setFlags(options, flags))
}

// Lookup returns the text and the origin of the option called name, for
// listings; ok is false if there is no such option.
func (s *Settings) Lookup(name string) (text string, from Origin, ok bool) {
	f := s.field(name)
	if f == nil {
		return "", Origin{}, false
	}
	text, from = f.describe()
	return text, from, true
}

// field returns the place of an option's value, nil for an unknown name.
func (s *Settings) field(name string) field {
	switch name {
	case "lock.idle":
		return &s.LockIdle
	case "lock.max":
		return &s.LockMax
	case "audit.max_size":
		return &s.AuditMaxSize
	case "audit.generations":
		return &s.AuditGenerations
	case "approval.wait":
		return &s.ApprovalWait
	case "approval.expire":
		return &s.ApprovalExpire
	case "guard.mode":
		return &s.GuardMode
	default:
		return nil
	}
}

// field is a Setting of any type.
type field interface {
	assign(value any, text string, from Origin) bool
	describe() (text string, from Origin)
}

// assign stores value and reports whether it has the field's type.
func (s *Setting[T]) assign(value any, text string, from Origin) bool {
	v, ok := value.(T)
	if ok {
		*s = Setting[T]{Value: v, Text: text, From: from}
	}
	return ok
}

func (s *Setting[T]) describe() (string, Origin) { return s.Text, s.From }

// set gives an option a value in the form of a flag. A bad one changes nothing.
func (s *Settings) set(o Option, text string, from Origin) error {
	value, err := o.parse(text)
	if err != nil {
		return err
	}
	f := s.field(o.Name)
	if f == nil || !f.assign(value, text, from) {
		return fmt.Errorf("option %s has no field for a %s", o.Name, o.Kind)
	}
	return nil
}

// setEntry applies one line of the file.
func (s *Settings) setEntry(options []Option, e entry) error {
	i := slices.IndexFunc(options, func(o Option) bool { return o.Name == e.name })
	if i < 0 {
		return fmt.Errorf("unknown key %s", excerpt(e.name))
	}
	o := options[i]
	text, err := e.textFor(o.Kind)
	if err == nil {
		err = s.set(o, text, e.from)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.Name, err)
	}
	return nil
}

// setFlags applies the flags, in the order of their names.
func (s *Settings) setFlags(options []Option, flags map[string]string) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		from := Origin{Kind: FromFlag, Name: name}
		i := slices.IndexFunc(options, func(o Option) bool { return o.Name == name })
		if i < 0 {
			errs = append(errs, fmt.Errorf("%s: no such option", from))
		} else if err := s.set(options[i], flags[name], from); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", from, err))
		}
	}
	return errors.Join(errs...)
}
