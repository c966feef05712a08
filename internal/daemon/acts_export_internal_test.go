package daemon

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"warder/internal/api"
	"warder/internal/dotenv"
	"warder/internal/secret"
)

// exported is an export with the password.
func (s *scene) exported(in api.Export) string {
	s.t.Helper()
	in.Presence = true
	res := s.do(person(), api.OpExport, in, masterPassword)
	s.ok(res, nil)
	return strings.Join(res.values, "")
}

// written is an export without the decision about it, which takes long because of the password.
func (s *scene) written(in api.Export) []byte {
	s.t.Helper()
	input, err := json.Marshal(in)
	must(s.t, err)
	r, err := s.acts.newRequest(&operation{name: api.OpExport}, &api.Call{Peer: person(), Input: input})
	must(s.t, err)
	r.account = s.account
	planned, err := planExport(r)
	must(s.t, err)
	defer planned.close()
	reply, err := planned.run(s.t.Context())
	must(s.t, err)
	defer destroy(reply.Values)
	var text []byte
	for _, v := range reply.Values {
		must(s.t, v.Use(func(b []byte) { text = append(text, b...) }))
	}
	return text
}

// TestExportEnvRoundTrip: what is written out is what was stored, for any bytes but NUL (U-51, U-52).
func TestExportEnvRoundTrip(t *testing.T) {
	s := newScene(t)
	stage := 0
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_.-]{0,8}`), 1, 4, rapid.ID).Draw(rt, "names")
		stage++
		in := api.StageSet{Project: "p", Stage: fmt.Sprint("s", stage)}
		want := map[string]string{}
		var values []string
		for _, name := range names {
			b := rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 12).Draw(rt, name)
			in.Set = append(in.Set, api.VariableIn{Name: name, Concealed: true})
			values, want[name] = append(values, string(b)), string(b)
		}
		s.ok(s.do(person(), api.OpProjectSet, in, values...), nil)
		file, err := dotenv.Parse("", s.written(api.Export{Format: "env", Project: "p", Stage: in.Stage}))
		must(t, err)
		got := map[string]string{}
		for _, e := range file.Entries {
			got[e.Name] = string(e.Value)
		}
		if !maps.Equal(got, want) {
			rt.Fatalf("read %q, want %q", got, want)
		}
	})
}

// TestExportJSON: the documented form, whatever the bytes.
func TestExportJSON(t *testing.T) {
	s := newScene(t)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	long := strings.Repeat("ä\"\\\x00\x1f\u2028", 7000) // over one value of the socket
	s.ok(s.do(person(), api.OpItemAdd, api.ItemAdd{
		Name: "x", Type: "other", Tags: []string{"t"}, Hosts: []string{"a.example.com"}, Commands: []api.Command{{Name: "ls", Path: "/bin/ls"}},
		Fields: []api.FieldIn{{Name: "text", Concealed: true}, {Section: "s", Name: "bytes", Concealed: true}, {Name: "empty"}, {Name: "long"}},
	}, "a\n\"b\"", string(all), "", long), nil)
	s.ok(s.do(person(), api.OpProjectSet, set("p", "dev", "", "X"), token), nil)
	type field struct {
		Section, Name, Ref string
		Concealed          bool
		Value, Base64      *string
	}
	var out struct {
		Version       int
		Items, Stages []struct {
			Vault, Name, Type, Level, Project, Stage string
			Tags, Hosts                              []string
			Commands                                 []api.Command
			Fields                                   []field
		}
	}
	must(t, json.Unmarshal([]byte(s.exported(api.Export{Format: "json"})), &out))
	if out.Version != 1 || len(out.Items) != 1 || len(out.Stages) != 1 || *out.Stages[0].Fields[0].Value != token {
		t.Fatalf("exported %+v", out)
	}
	f := out.Items[0].Fields
	if *f[0].Value != "a\n\"b\"" || f[1].Value != nil || *f[1].Base64 != base64.StdEncoding.EncodeToString(all) || *f[2].Value != "" || *f[3].Value != long {
		t.Error("values were changed")
	}
	must(t, json.Unmarshal([]byte(s.exported(api.Export{Format: "json", Project: "p"})), &out))
	if len(out.Stages) != 1 || out.Stages[0].Stage != "dev" || *out.Stages[0].Fields[0].Value != token {
		t.Errorf("exported %+v", out.Stages)
	}
	for _, in := range []api.Export{{Format: "xml"}, {Format: "env"}, {Format: "env", Stage: "dev"}} {
		s.refused(s.do(person(), api.OpExport, in), api.Usage)
	}
	for _, who := range []*client{agent(), unknown()} {
		s.refused(s.do(who, api.OpExport, api.Export{Format: "json"}), api.Denied)
		s.refused(s.do(who, api.OpExport, api.Export{Format: "env", Project: "p", Stage: "dev"}), api.NotFound)
	}
}

// TestSinkRefusesMore: a text that does not fit is an error, never cut.
func TestSinkRefusesMore(t *testing.T) {
	v, err := secret.Make(3, func(b []byte) error {
		_, err := (&sink{out: b}).Write([]byte("four"))
		return err
	})
	if err == nil {
		v.Destroy()
		t.Error("a text was cut")
	}
}

// TestExportWithAReferenceToNothing: what is not there keeps nobody from
// writing out the rest.
func TestExportWithAReferenceToNothing(t *testing.T) {
	s := newScene(t)
	s.ok(s.do(person(), api.OpItemAdd, api.ItemAdd{Name: "x", Type: "other", Fields: []api.FieldIn{{Name: "text", Concealed: true}}}, token), nil)
	s.ok(s.do(person(), api.OpProjectSet, api.StageSet{
		Project: "p", Stage: "dev", Set: []api.VariableIn{{Name: "X", Ref: "warder://personal/x/text"}},
	}), nil)
	if got := s.exported(api.Export{Format: "env", Project: "p", Stage: "dev"}); got != "X="+token+"\n" {
		t.Errorf("with the item: %q", got)
	}
	s.ok(s.do(person(), api.OpItemRemove, api.ItemName{Name: "x"}), nil)
	got := s.exported(api.Export{Format: "json"})
	if !json.Valid([]byte(got)) || !strings.Contains(got, `"ref":"warder://personal/x/text","value":""`) {
		t.Errorf("without it: %s", got)
	}
	s.refused(s.do(person(), api.OpExport, api.Export{Format: "env", Project: "p", Stage: "dev"}), api.NotFound)
}
