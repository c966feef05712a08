package f1reader

import (
	"encoding/base64"
	"fmt"
	"slices"
)

// form gives typed access to the members of an object. The first member that
// does not fit is kept as its error; later ones read as zero.
type form struct {
	members map[string]any
	err     error
}

// parseForm reads canonical JSON whose outermost value is an object.
func parseForm(text []byte) (*form, error) {
	v, err := parseCanonical(text)
	if err != nil {
		return nil, err
	}
	return asForm(v)
}

// asForm reads an object.
func asForm(v any) (*form, error) {
	members, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("no object")
	}
	return &form{members: members}, nil
}

// must records an error unless all members are there: those that F1 writes
// always.
func (f *form) must(keys ...string) {
	for _, key := range keys {
		if _, ok := f.members[key]; !ok {
			f.fail(key, fmt.Errorf("absent"))
		}
	}
}

// only records an error if there are other members.
func (f *form) only(keys ...string) {
	for key := range f.members {
		if !slices.Contains(keys, key) {
			f.fail(key, fmt.Errorf("unknown"))
		}
	}
}

// has reports whether a member is there.
func (f *form) has(key string) bool {
	_, ok := f.members[key]
	return ok
}

// fail records the first error.
func (f *form) fail(key string, err error) {
	if f.err == nil {
		f.err = fmt.Errorf("member %q: %w", key, err)
	}
}

// member reads a member by means of read, or its zero value where it is absent.
func member[T any](f *form, key string, read func(any) (T, error)) T {
	var zero T
	v, ok := f.members[key]
	if !ok {
		return zero
	}
	t, err := read(v)
	if err != nil {
		f.fail(key, err)
		return zero
	}
	return t
}

// as reads a value of a type that the parser itself makes.
func as[T any](v any) (T, error) {
	t, ok := v.(T)
	if !ok {
		return t, fmt.Errorf("a value of another type")
	}
	return t, nil
}

// asCount reads an integer that is not negative: a count, an epoch, a time.
func asCount(v any) (uint64, error) {
	n, err := as[int64](v)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("no count")
	}
	return uint64(n), nil
}

// asID reads an id.
func asID(v any) (id, error) {
	text, err := as[string](v)
	if err != nil {
		return id{}, err
	}
	return parseID(text)
}

// asHash reads a hash.
func asHash(v any) (hash, error) {
	text, err := as[string](v)
	if err != nil {
		return hash{}, err
	}
	return parseHash(text)
}

// asBytes reads base64 of any length.
func asBytes(v any) ([]byte, error) {
	text, err := as[string](v)
	if err != nil {
		return nil, err
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(decoded) != text {
		return nil, fmt.Errorf("no base64")
	}
	return decoded, nil
}

// asSized reads base64 of n bytes.
func asSized(n int) func(any) ([]byte, error) {
	return func(v any) ([]byte, error) {
		decoded, err := asBytes(v)
		if err == nil && len(decoded) != n {
			return nil, fmt.Errorf("%d bytes, want %d", len(decoded), n)
		}
		return decoded, err
	}
}

// asList reads a list of what read reads.
func asList[T any](read func(any) (T, error)) func(any) ([]T, error) {
	return func(v any) ([]T, error) {
		values, err := as[[]any](v)
		if err != nil {
			return nil, err
		}
		var list []T
		for _, value := range values {
			t, err := read(value)
			if err != nil {
				return nil, err
			}
			list = append(list, t)
		}
		return list, nil
	}
}

// asMap reads a map by means of readers for its keys and values.
func asMap[K comparable, V any](key func(any) (K, error), value func(any) (V, error)) func(any) (map[K]V, error) {
	return func(v any) (map[K]V, error) {
		members, err := as[map[string]any](v)
		if err != nil {
			return nil, err
		}
		out := make(map[K]V, len(members))
		for name, member := range members {
			k, err := key(name)
			if err != nil {
				return nil, err
			}
			if out[k], err = value(member); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// asObject reads an object by means of a function over its members.
func asObject[T any](read func(*form) T) func(any) (T, error) {
	return func(v any) (T, error) {
		f, err := asForm(v)
		if err != nil {
			var zero T
			return zero, err
		}
		t := read(f)
		return t, f.err
	}
}
