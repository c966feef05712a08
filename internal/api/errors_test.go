package api_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/api"
	"warder/internal/api/frame"
)

// exits are the codes and exit statuses that the outside relies on. They are never changed; new ones are added.
var exits = map[api.Code]int{
	"usage": 2, "denied": 3, "approval_refused": 4, "approval_timeout": 4, "needs_approval": 4, "unreachable": 5, "sandboxed": 5,
	"locked": 6, "not_found": 7, "integrity": 8, "wrong_password": 1, "no_account": 1, "unsafe_name": 2, "too_large": 1, "exists": 1,
	"internal": 1, "version": 5,
}

func TestEveryCodeHasItsExitStatus(t *testing.T) {
	got := map[api.Code]int{}
	for _, row := range api.Rows() {
		if _, twice := got[row.Code]; twice {
			t.Errorf("%s stands twice", row.Code)
		}
		got[row.Code] = row.Exit
	}
	if diff := cmp.Diff(exits, got); diff != "" {
		t.Error(diff)
	}
}

func TestEveryRowIsComplete(t *testing.T) {
	results := map[api.Result]bool{api.ResultError: true, api.ResultDenied: true, api.ResultNeedsApproval: true}
	docs := map[string]api.Code{}
	for _, row := range api.Rows() {
		if row.Exit < api.ExitFailed || row.Exit > api.ExitIntegrity || !results[row.Result] {
			t.Errorf("%s: exit status %d, result %q", row.Code, row.Exit, row.Result)
		}
		if row.Hint == "" || strings.HasSuffix(row.Hint, ".") || strings.ToLower(row.Hint[:1]) != row.Hint[:1] {
			t.Errorf("%s: hint %q", row.Code, row.Hint)
		}
		if row.Doc == "" || !strings.HasSuffix(row.Doc, ".") || strings.Contains(row.Doc, "\n") {
			t.Errorf("%s: text %q", row.Code, row.Doc)
		}
		if other, twice := docs[row.Doc]; twice {
			t.Errorf("%s and %s have one text", other, row.Code)
		}
		docs[row.Doc] = row.Code
		if api.RowOf(row.Code) != row {
			t.Errorf("%s: RowOf finds another row", row.Code)
		}
	}
}

func TestDeniedMeansDenied(t *testing.T) {
	for code, exit := range exits {
		denied := exit == api.ExitDenied || exit == api.ExitUnapproved
		if got := api.RowOf(code).Result; denied == (got == api.ResultError) {
			t.Errorf("%s exits with %d and is %q to a model", code, exit, got)
		}
	}
}

func TestUnknownCodesAreInternal(t *testing.T) {
	want := api.RowOf(api.Internal)
	want.Code = "from_the_future"
	if got := api.RowOf("from_the_future"); got != want {
		t.Errorf("got %+v", got)
	}
}

func TestRowsAreACopy(t *testing.T) {
	api.Rows()[0].Exit = 99
	if api.Rows()[0].Exit == 99 {
		t.Error("the table can be changed")
	}
}

func TestAsError(t *testing.T) {
	own := frame.Errorf("locked", "locked").WithHint("my own hint")
	for name, c := range map[string]struct {
		err  error
		want api.Error
	}{
		"as it is":     {own, api.Error{Code: "locked", Message: "locked", Hint: "my own hint"}},
		"wrapped":      {fmt.Errorf("doing: %w", own), api.Error{Code: "locked", Message: "locked", Hint: "my own hint"}},
		"without hint": {frame.Errorf("locked", "m"), api.Error{Code: "locked", Message: "m", Hint: api.RowOf("locked").Hint}},
		"made here":    {api.Errorf(api.Denied, "rule %d", 7), api.Error{Code: "denied", Message: "rule 7", Hint: api.RowOf("denied").Hint}},
		"no Error":     {errors.New("disk on fire"), api.Error{Code: "internal", Message: "disk on fire", Hint: api.RowOf("internal").Hint}},
	} {
		got := api.AsError(c.err)
		if got.Code != c.want.Code || got.Message != c.want.Message || got.Hint != c.want.Hint {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
