package api_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/api/frame"
)

// shout answers each piece in capitals, a text that ends with "?" in two pieces, and "fail" with an error.
func shout(_ context.Context, call *api.Call, d api.Dialogue) (*api.Reply, error) {
	if string(call.Input) == `"refuse"` {
		return nil, api.Errorf(api.Denied, "refused")
	}
	if err := d.Begin("begun"); err != nil {
		return nil, err
	}
	said := 0
	for {
		p, err := d.Next()
		if errors.Is(err, io.EOF) {
			return &api.Reply{Output: said}, nil
		}
		if err != nil {
			return nil, err
		}
		text := strings.ToUpper(string(p.Bytes))
		switch {
		case text == "FAIL":
			return nil, api.Errorf(api.TooLarge, "failed")
		case text == "HUGE":
			text = strings.Repeat("x", frame.MaxAnswer)
		}
		said++
		if err := d.Answer(frame.Piece{Text: p.Text, Bytes: []byte(text), More: strings.HasSuffix(text, "?")}); err != nil {
			return nil, err
		}
	}
}

// talk has a dialogue in which each text is said as one piece.
func talk(t *testing.T, c *api.Client, in any, texts ...string) (answers []frame.Piece, said int, err error) {
	t.Helper()
	var begun string
	err = c.Dialogue(t.Context(), "shout", api.Talk{In: in, Begun: &begun, Out: &said}, func(d *frame.Dialogue) error {
		if begun != "begun" {
			t.Errorf("begun with %q", begun)
		}
		for i, text := range texts {
			err := d.Ask(frame.Piece{Text: i % frame.MaxTexts, Bytes: []byte(text)}, func(p frame.Piece) {
				answers = append(answers, frame.Piece{Text: p.Text, More: p.More, Bytes: []byte(string(p.Bytes))})
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return answers, said, err
}

// TestDialogue: pieces are answered in their order, by text, and the connection serves on after one that ended in whatever way.
func TestDialogue(t *testing.T) {
	w := serve(t, map[string]api.Op{"shout": {Dialogue: shout}, "echo": {Call: mirror}})
	c := w.dial()
	for _, row := range []struct {
		in    any
		texts []string
		last  string
		said  int
		code  api.Code
	}{
		{nil, nil, "", 0, ""},
		{nil, []string{"a", "b", "c?"}, "C?", 3, ""},
		{nil, []string{"a", "fail", "never"}, "A", 0, api.TooLarge},
		{"refuse", []string{"a"}, "", 0, api.Denied},
		{nil, []string{"\x00\xff"}, strings.ToUpper("\x00\xff"), 1, ""},
		{nil, []string{"huge"}, strings.Repeat("x", frame.MaxAnswer), 1, ""},
		{nil, []string{""}, "", 1, ""},
	} {
		answers, said, err := talk(t, c, row.in, row.texts...)
		if codeOf(err) != row.code || said != row.said {
			t.Errorf("%q: %d said, %v", row.texts, said, err)
		}
		if n := len(answers); n > 0 && (string(answers[n-1].Bytes) != row.last || answers[n-1].More != strings.HasSuffix(row.last, "?") || answers[n-1].Text != n-1) {
			t.Errorf("%q: answered %v", row.texts, answers)
		}
		if _, err := c.Call(t.Context(), "echo", nil, nil); err != nil {
			t.Errorf("after %q: %v", row.texts, err)
		}
	}
	if a := w.ask("POST", "/v1/shout", ""); a.status != http.StatusBadRequest || a.failure(t).Code != api.Usage {
		t.Errorf("over HTTP: %+v", a)
	}
}

// TestDialogueBrokenOff: an error of either end, and the end of the server, ends both, and what the client asks afterwards is refused.
func TestDialogueBrokenOff(t *testing.T) {
	ended := make(chan error, 1)
	op := api.Op{Dialogue: func(ctx context.Context, call *api.Call, d api.Dialogue) (*api.Reply, error) {
		reply, err := shout(ctx, call, d)
		ended <- err
		return reply, err
	}}
	w := serve(t, map[string]api.Op{"shout": op})
	wrong := errors.New("wrong")
	var begun, out any
	var kept *frame.Dialogue
	err := w.dial().Dialogue(t.Context(), "shout", api.Talk{Begun: &begun, Out: &out}, func(d *frame.Dialogue) error { kept = d; return wrong })
	if !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	if err := <-ended; err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the daemon was told that all is said: %v", err)
	}
	if err := kept.Ask(frame.Piece{}, func(frame.Piece) {}); err == nil {
		t.Error("it goes on")
	}

	err = w.dial().Dialogue(t.Context(), "shout", api.Talk{Begun: &begun, Out: &out}, func(d *frame.Dialogue) error {
		if err := w.down(); err != nil {
			t.Error(err)
		}
		var asked error
		for range 2 {
			if asked = d.Ask(frame.Piece{Bytes: []byte("a")}, func(frame.Piece) { t.Error("answered") }); codeOf(asked) != api.Unreachable {
				t.Errorf("asked: %v", asked)
			}
		}
		return asked
	})
	if codeOf(err) != api.Unreachable {
		t.Errorf("got %v", err)
	}
	<-ended
}

// TestDialogueOfStrangers: what is no piece ends the connection.
func TestDialogueOfStrangers(t *testing.T) {
	w := serve(t, map[string]api.Op{"shout": {Dialogue: shout}})
	for _, row := range []struct{ name, frame string }{
		{"another kind", "\x02\x00\x00\x00\x01x"},
		{"too short", "\x07\x00\x00\x00\x01x"},
		{"too long", "\x07\x00\xff\xff\xff\x00\x00"},
		{"no such text", "\x07\x00\x00\x00\x03\x09\x00x"},
		{"no such flag", "\x07\x00\x00\x00\x03\x00\x80x"},
		{"half of one", "\x07\x00\x00\x00\x05\x00\x00x"},
	} {
		nc := w.raw()
		speak(t, nc, "\x00WF\x01"+framed(6, `{"protocol":1,"version":"v1.2.3"}`)+framed(1, `{"op":"shout"}`)+row.frame)
		must(t, nc.CloseWrite())
		heard, err := io.ReadAll(nc) // which may fail, since the daemon has not read all
		if !strings.Contains(string(heard), framed(5, `"begun"`)) {
			t.Errorf("%s: heard %q, %v", row.name, heard, err)
		}
		if strings.Contains(string(heard), "\x07\x00") {
			t.Errorf("%s: answered with %q", row.name, heard)
		}
	}
}

// framed is a frame.
func framed(kind byte, body string) string {
	return string([]byte{kind, 0, 0, 0, byte(len(body))}) + body
}

// speak sends what no client of ours would.
func speak(t *testing.T, nc net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(nc, text); err != nil {
		t.Fatal(err)
	}
}
