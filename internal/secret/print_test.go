package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	texttemplate "text/template"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	"warder/internal/secret"
)

// holders are the ways in which a value is held by what somebody prints, for Value and *Value.
func holders(v secret.Value) map[string]any {
	p := &v
	type byValue struct{ V secret.Value }
	type byPointer struct{ V *secret.Value }
	type hidden struct{ v secret.Value }
	type hiddenPointer struct{ v *secret.Value }
	type embedded struct{ secret.Value }
	type deep struct {
		Name string
		In   struct{ M map[string][]*hiddenPointer }
	}
	d := deep{Name: "deep"}
	d.In.M = map[string][]*hiddenPointer{"k": {{p}}}
	pp := &p
	return map[string]any{
		"value":                     v,
		"pointer":                   p,
		"pointer to pointer":        pp,
		"struct":                    byValue{v},
		"pointer to struct":         &byValue{v},
		"struct with pointer":       byPointer{p},
		"hidden field":              hidden{v},
		"pointer to hidden field":   &hidden{v},
		"hidden pointer":            hiddenPointer{p},
		"pointer to hidden pointer": &hiddenPointer{p},
		"embedded":                  embedded{v},
		"map":                       map[string]secret.Value{"k": v},
		"map of pointers":           map[string]*secret.Value{"k": p},
		"pointer as map key":        map[*secret.Value]int{p: 1},
		"slice":                     []secret.Value{v, v},
		"slice of pointers":         []*secret.Value{p},
		"array":                     [1]secret.Value{v},
		"any":                       []any{v, p, hidden{v}},
		"channel":                   make(chan secret.Value, 1),
		"error":                     fmt.Errorf("using %v and %v: %w", v, p, errors.New("no")),
		"error joined":              errors.Join(fmt.Errorf("%+v", hidden{v}), fmt.Errorf("%#v", byValue{v})),
		"deep":                      d,
		"method":                    v.Len,
		"reflected":                 reflect.ValueOf(hidden{v}),
	}
}

// needles are the forms in which the bytes would be readable: as they are, quoted, hex with any separator, base64 at
// each offset, and lists of decimals.
func needles(b []byte) map[string]string {
	lower := hex.EncodeToString(b)
	decimals := make([]string, len(b))
	for i, c := range b {
		decimals[i] = strconv.Itoa(int(c))
	}
	n := map[string]string{
		"raw":             string(b),
		"quoted":          strings.Trim(strconv.Quote(string(b)), `"`),
		"hex":             lower,
		"hex upper":       strings.ToUpper(lower),
		"decimal":         strings.Join(decimals, " "),
		"decimal, commas": strings.Join(decimals, ","),
		"Go syntax":       strings.Trim(fmt.Sprintf("%#v", b), "[]byte{}"),
		"hex spaced":      fmt.Sprintf("% x", b),
		"hex prefixed":    fmt.Sprintf("%# x", b),
	}
	for shift := range 3 {
		encoded := base64.StdEncoding.EncodeToString(append(make([]byte, shift), b...))
		n[fmt.Sprintf("base64 +%d", shift)] = encoded[4 : len(encoded)-4]
	}
	return n
}

// leaks names the form of the bytes found in out.
func leaks(out string, forms map[string]string) string {
	for name, form := range forms {
		if strings.Contains(out, form) {
			return name
		}
	}
	return ""
}

func printable(t *testing.T) []byte {
	t.Helper()
	return []byte("A" + base64.RawStdEncoding.EncodeToString(random(t, 18)) + `"<é`)
}

func TestPrint_everyVerbAndFlag(t *testing.T) {
	b := printable(t)
	v, forms := newValue(t, b), needles(b)
	proveSearch(t, b, forms)
	flags := []string{"", "+", "-", "#", " ", "0", "+#", "-#", "# ", "+-# 0", "60", "-60", "060", ".3", "60.3", "[1]", "#.3"}
	for name, h := range holders(v) {
		for verb := rune(1); verb < 0x100; verb++ { // also those that fmt doesn't know
			for _, flag := range flags {
				out := fmt.Sprintf("%"+flag+string(verb), h)
				if form := leaks(out, forms); form != "" {
					t.Fatalf("%%%s%c of %s shows the bytes: %s", flag, verb, name, form)
				}
			}
		}
		for _, out := range []string{fmt.Sprint(h), fmt.Sprintln(h), fmt.Sprint(h, h)} {
			if form := leaks(out, forms); form != "" {
				t.Errorf("Sprint of %s shows the bytes: %s", name, form)
			}
		}
	}
}

// proveSearch shows that the search above would find the bytes in what fmt makes of them.
func proveSearch(t *testing.T, b []byte, forms map[string]string) {
	t.Helper()
	type holder struct{ B []byte }
	for _, format := range []string{"%s", "%q", "%v", "%d", "%x", "%X", "% x", "%#v", "%+v"} {
		for _, h := range []any{b, holder{b}, []any{b}} {
			if out := fmt.Sprintf(format, h); leaks(out, forms) == "" {
				t.Fatalf("the search doesn't find %s", out)
			}
		}
	}
}

func TestPrint_placeholder(t *testing.T) {
	v := newValue(t, printable(t))
	destroyed := newValue(t, []byte("x"))
	destroyed.Destroy()
	for name, v := range map[string]secret.Value{"full": v, "zero": {}, "destroyed": destroyed} {
		text, _ := v.MarshalText()
		binary, _ := v.MarshalBinary()
		for how, got := range map[string]string{
			"%v": fmt.Sprintf("%v", v), "%q": fmt.Sprintf("%q", v), "%x": fmt.Sprintf("%x", v), "%#v": fmt.Sprintf("%#v", v),
			"%99d": fmt.Sprintf("%99d", v), "%v of a pointer": fmt.Sprintf("%v", &v), "String": v.String(), "GoString": v.GoString(),
			"LogValue": v.LogValue().String(), "MarshalText": string(text), "MarshalBinary": string(binary),
		} {
			if got != secret.Placeholder {
				t.Errorf("%s of a %s value = %q, want %q", how, name, got, secret.Placeholder)
			}
		}
		if got, err := v.MarshalJSON(); err != nil || string(got) != `"`+secret.Placeholder+`"` {
			t.Errorf("JSON of a %s value = %s, %v", name, got, err)
		}
	}
	if got := fmt.Sprint((*secret.Value)(nil)); got != "<nil>" {
		t.Errorf("a nil pointer prints as %q", got)
	}
}

// encoders are all the other ways out. An error is as good as a placeholder.
func encoders() map[string]func(any) string {
	return map[string]func(any) string{
		"slog text": func(h any) string { return logged(h, false) },
		"slog JSON": func(h any) string { return logged(h, true) },
		"json":      func(h any) string { return text(json.Marshal(h)) },
		"json indent": func(h any) string {
			return text(json.MarshalIndent(map[string]any{"h": h}, "", " "))
		},
		"xml":  func(h any) string { return text(xml.Marshal(h)) },
		"toml": func(h any) string { return text(toml.Marshal(map[string]any{"h": h})) },
		"gob": func(h any) string {
			var b bytes.Buffer
			err := gob.NewEncoder(&b).Encode(h)
			return text(b.Bytes(), err)
		},
		"text/template": func(h any) string {
			var b bytes.Buffer
			err := texttemplate.Must(texttemplate.New("").Parse(`{{.}} {{print .}} {{printf "%#v %x %s" . . .}} {{js .}} {{html .}}`)).Execute(&b, h)
			return text(b.Bytes(), err)
		},
		"html/template": func(h any) string {
			var b bytes.Buffer
			err := template.Must(template.New("").Parse(`<p title="{{.}}">{{.}}<script>var x = {{.}}</script>`)).Execute(&b, h)
			return text(b.Bytes(), err)
		},
		"cmp.Diff": func(h any) (out string) {
			defer func() {
				if p := recover(); p != nil { // it panics on unexported fields
					out = fmt.Sprint(p)
				}
			}()
			all := cmp.Exporter(func(reflect.Type) bool { return true })
			return cmp.Diff(h, nil) + cmp.Diff([]any{h}, []any{secret.Value{}, h}, all)
		},
		"panic": func(h any) (out string) {
			defer func() { out = fmt.Sprint(recover()) }()
			panic(h)
		},
	}
}

func text(b []byte, err error) string {
	if err != nil {
		return string(b) + err.Error()
	}
	return string(b)
}

func logged(h any, asJSON bool) string {
	var b bytes.Buffer
	var handler slog.Handler = slog.NewTextHandler(&b, nil)
	if asJSON {
		handler = slog.NewJSONHandler(&b, nil)
	}
	log := slog.New(handler).With("with", h)
	log.Info("m", "h", h, slog.Group("g", slog.Any("h", h)))
	return b.String()
}

func TestPrint_everyEncoder(t *testing.T) {
	b := printable(t)
	v, forms := newValue(t, b), needles(b)
	for encoder, encode := range encoders() {
		for name, h := range holders(v) {
			if form := leaks(encode(h), forms); form != "" {
				t.Errorf("%s of %s shows the bytes: %s", encoder, name, form)
			}
		}
		for _, h := range []any{v, &v} {
			if out := encode(h); !strings.Contains(out, secret.Placeholder) {
				t.Errorf("%s of %T lacks the placeholder: %q", encoder, h, out)
			}
		}
		// The same way out must show bytes that aren't a Value, or its silence proves nothing.
		plain := string(b[:20])
		if out := encode(plain); !strings.Contains(out, plain) && !strings.Contains(out, strings.ReplaceAll(plain, "+", "&#43;")) {
			t.Errorf("%s doesn't show a plain string: %q", encoder, out)
		}
	}
}

// TestPrint_noPathByReflection walks everything that reflection reaches from a Value, as dumpers with unsafe do.
func TestPrint_noPathByReflection(t *testing.T) {
	b := printable(t)
	v := newValue(t, b)
	if walk(reflect.ValueOf(&v), b, map[uintptr]bool{}) {
		t.Error("reflection leads from a Value to its bytes")
	}
	type cell struct{ mem []byte }
	open := struct{ c *cell }{&cell{mem: b}}
	if !walk(reflect.ValueOf(&open), b, map[uintptr]bool{}) {
		t.Error("the walk doesn't find bytes behind an unexported pointer")
	}
}

// walk says whether want is found in what reflection reaches from v.
func walk(v reflect.Value, want []byte, seen map[uintptr]bool) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			got := make([]byte, v.Len())
			for i := range got {
				got[i] = byte(v.Index(i).Uint())
			}
			return bytes.Contains(got, want)
		}
	case reflect.String:
		return strings.Contains(v.String(), string(want))
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			return false
		}
		seen[v.Pointer()] = true
	default:
	}
	return slices.ContainsFunc(parts(v), func(part reflect.Value) bool { return walk(part, want, seen) })
}

// parts gives what v consists of or points to.
func parts(v reflect.Value) (all []reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			all = append(all, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			all = append(all, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			all = append(all, v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			all = append(all, k, v.MapIndex(k))
		}
	default:
	}
	return all
}
