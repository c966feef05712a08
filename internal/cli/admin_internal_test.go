package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warder/internal/api"
	"warder/internal/secret"
)

// running is the status of a daemon with an open account.
func running() api.Status {
	return api.Status{
		Daemon:  api.DaemonStatus{Running: true, PID: 7, Version: "devel", StartedBy: "person", SameBinary: true, Chain: []api.ChainProcess{}},
		Account: api.AccountStatus{State: accountUnlocked, ID: "acc", LocksAt: "2026-11-30T17:00:00Z"},
		Audit:   api.AuditStatus{Seq: 3, OK: true}, Memory: "mlock", Findings: []api.Finding{}, Warnings: []string{},
	}
}

func TestStatus(t *testing.T) {
	f := newFake(t, answers{api.OpStatus: reply(running())})
	f.run("", "status").want(t, 0, "running, pid 7", "unlocked until 2026-11-30T17:00:00Z", "3 events")
	f.run("", "status", "--json").want(t, 0, `"findings":[]`, `"memory":"mlock"`, `"locks_at":"2026-11-30T17:00:00Z"`)

	bad := running()
	bad.Findings = []api.Finding{{Kind: "rollback", Object: "personal", Text: "an older manifest is there"}}
	f = newFake(t, answers{api.OpStatus: reply(bad)})
	f.run("", "status").want(t, 8, "rollback: an older manifest is there (personal)", "warder repair")
	if s := f.run("", "status", "--json"); s.status != 8 || strings.Count(s.out, "\n") != 1 || s.errors != "" {
		t.Errorf("got %+v", s)
	}
}

// TestStatusTellsOfTheLog: what is known of the log stands in status and doctor, each with what to do, and status ends with 8
// where it is wrong.
func TestStatusTellsOfTheLog(t *testing.T) {
	damage := &api.AuditBad{Seq: 17, Cause: "tamper", Text: "its MAC is wrong"}
	for name, row := range map[string]struct {
		audit  api.AuditStatus
		status int
		says   []string
		doctor string
	}{
		"not checked": {api.AuditStatus{Seq: 3, OK: true}, 0, []string{"3 events; not verified"}, "ok       audit log: 3 events, nothing is known to be wrong; not checked since"},
		"checked":     {api.AuditStatus{Seq: 3, OK: true, Checked: "2026-11-30T08:00:00Z"}, 0, []string{"verified at 2026-11-30T08:00:00Z"}, "ok       audit log: 3 events, whole when"},
		"rotated": {
			api.AuditStatus{Seq: 300, First: 201, OK: true},
			0,
			[]string{"300 events; the oldest 200 dropped for their size (kept from seq 201 on)"},
			"ok       audit log: 300 events",
		},
		"damaged": {
			api.AuditStatus{Seq: 30, FirstBad: damage, Hint: "warder audit seal"},
			8,
			[]string{"damaged at seq 17 (tamper: its MAC is wrong)", "warder audit seal"},
			"broken   audit log: 30 events; damaged at seq 17",
		},
		"not to be written": {
			api.AuditStatus{Seq: 30, Fault: "nothing can be recorded in /x/audit: no space left on device", Hint: "make room"},
			8,
			[]string{"nothing can be recorded in /x/audit: no space", "make room"},
			"broken   audit log: 30 events; nothing can be recorded",
		},
		"begun anew": {api.AuditStatus{Seq: 30, OK: true, Signed: 4711}, 0, []string{"signed up to record 4711, was taken away"}, "limited  audit log: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := running()
			s.Audit = row.audit
			f := newFake(t, answers{api.OpStatus: reply(s), api.OpWhoami: reply(api.Whoami{Verdict: "agent", Why: "a test"})})
			f.setUp()
			f.run("", "status").want(t, row.status, row.says...)
			f.run("", "status", "--json").want(t, row.status)
			said := f.run("", "doctor")
			said.want(t, said.status, row.doctor)
			if strings.Contains(said.out, "settings: ") {
				t.Errorf("doctor takes it for a setting: %s", said.out)
			}
		})
	}
}

// TestUnattendedAndLocked: why an unattended account does not open is told by the command that starts the daemon, by restart,
// which fails, by status and by doctor.
func TestUnattendedAndLocked(t *testing.T) {
	const why, hint = "its opening could not be recorded in /x/audit: no space left on device", "make room on that disk"
	s := running()
	s.Account = api.AccountStatus{State: accountLocked, Unattended: true, Why: why, Hint: hint}
	world := func() *fake {
		f := newWorld(t)
		f.setUp()
		f.base.launch = func(context.Context, order) (api.Started, []secret.Value, error) {
			f.serve(map[string]api.Op{
				api.OpStatus: {Call: func(_ context.Context, call *api.Call) (*api.Reply, error) { return reply(s)(call) }},
				api.OpWhoami: {Call: func(context.Context, *api.Call) (*api.Reply, error) { return &api.Reply{Output: api.Whoami{}}, nil }},
				api.OpAuditVerify: {Call: func(context.Context, *api.Call) (*api.Reply, error) {
					return &api.Reply{Output: api.AuditReport{OK: true}}, nil
				}},
			})
			return api.Started{PID: 7, Locked: why, Hint: hint}, nil, nil
		}
		return f
	}
	f := world()
	f.run("", "daemon", "restart").want(t, 6, "runs as pid 7", "error[locked]", why, "hint: "+hint)
	f.run("", "status").want(t, 0, "locked, unattended: "+why, hint)
	f.run("", "doctor").want(t, 1, "broken   account: ", why, "-> "+hint)
	world().run("", "audit", "verify").want(t, 0, "warning: ", why, hint, "whole")
}

// TestDoctorLooksAtTheLog where no daemon runs that would tell.
func TestDoctorLooksAtTheLog(t *testing.T) {
	f := newWorld(t)
	f.setUp()
	log := filepath.Join(f.home, "state", "audit")
	if said := f.run("", "doctor"); strings.Contains(said.out, "audit log") {
		t.Errorf("no log, and yet: %s", said.out)
	}
	if err := os.Mkdir(log, 0o700); err != nil {
		t.Fatal(err)
	}
	said := f.run("", "doctor")
	said.want(t, said.status, "ok       audit log: "+log)
	segment := filepath.Join(log, "0000000000000001.jsonl")
	if err := os.WriteFile(segment, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(segment, filepath.Join(f.home, "another name")); err != nil { // it could be written by that, too
		t.Fatal(err)
	}
	f.run("", "doctor").want(t, 1, "broken   audit log: no daemon can start", "0000000000000001.jsonl")
	f.run("", "status").want(t, 8, "audit    it can't be read, so no daemon can start", "0000000000000001.jsonl")
}

func TestStatusWithoutDaemon(t *testing.T) {
	f := newWorld(t)
	f.run("", "status").want(t, 0, "not running", "none: warder setup")
	f.run("", "status", "--json").want(t, 0, `"running":false`, `"state":"none"`, `"chain":[]`)
	f.setUp()
	f.run("", "status").want(t, 0, "not running", "locked: warder unlock")
	f.run("", "lock").want(t, 0, "locked already")
}

func TestNoAccount(t *testing.T) {
	f := newWorld(t)
	f.base.launch = nil
	for _, line := range []string{"item list", "lock", "unlock", "audit tail", "project list", "trust list", "repair"} {
		f.run("", strings.Fields(line)...).want(t, 1, "error[no_account]", "make one: warder setup")
	}
	s := f.run("", "item", "list", "--json")
	s.want(t, 1)
	if !strings.HasPrefix(s.out, `{"error":{"code":"no_account","message":`) {
		t.Errorf("stdout %q", s.out)
	}
}

// TestSandboxed: a process that may not see the state directory reaches a daemon
// all the same, and where none answers it is not told to set up another account.
func TestSandboxed(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root sees everything")
	}
	f := newFake(t, answers{api.OpItemList: reply(api.ItemList{Items: []api.ItemRow{}})})
	f.setUp()
	none := newWorld(t)
	none.setUp()
	none.base.launch = nil
	for _, world := range []*fake{f, none} {
		if err := os.Chmod(filepath.Join(world.home, "state"), 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(world.home, "state"), 0o700) })
	}
	f.run("", "item", "list", "--json").want(t, 0, `{"items":[]}`)
	none.run("", "item", "list").want(t, 5, "error[sandboxed]", "warder: hint: run it outside of the sandbox")
}

func TestWhoami(t *testing.T) {
	who := api.Whoami{
		Verdict: "agent", Client: "claude", Depth: 2, Masked: true, Why: "claude is an ancestor",
		Evidence: []api.ChainProcess{{PID: 1, Exe: "/bin/claude", Role: "agent", Why: "by name"}},
	}
	f := newFake(t, answers{api.OpWhoami: reply(who)})
	f.run("", "whoami").want(t, 0, "agent claude (depth 2): claude is an ancestor", "/bin/claude", "is masked")
	f.run("", "whoami", "--json").want(t, 0, `{"verdict":"agent","client":"claude","depth":2,"masked":true,"presence":false,"evidence":[{"pid":1,`)
	newWorld(t).run("", "whoami").want(t, 0, "agent claude: a test") // judged by itself
}

// TestUnlockByTheWay: a locked daemon, a person at the terminal: the command
// asks, has a fresh daemon started, and goes on.
func TestUnlockByTheWay(t *testing.T) {
	locked := true
	f := newFake(t, answers{
		api.OpWhoami: reply(api.Whoami{Verdict: verdictPerson}),
		api.OpItemList: func(*api.Call) (*api.Reply, error) {
			if locked {
				return nil, api.Errorf(api.Locked, "the account is locked")
			}
			return &api.Reply{Output: api.ItemList{Items: []api.ItemRow{}}}, nil
		},
	})
	f.person(typed{question: "Master password: ", answer: "no"}, typed{question: "Master password: ", answer: testPassword})
	tries := 0
	f.base.launch = func(_ context.Context, o order) (api.Started, []secret.Value, error) {
		tries++
		right := false
		_ = o.values[0].Use(func(b []byte) { right = string(b) == testPassword })
		if !right || o.op != api.OpStartUnlock {
			return api.Started{}, nil, api.Errorf(api.WrongPassword, "wrong password")
		}
		locked = false
		return api.Started{}, nil, nil
	}
	f.run("", "item", "list", "--json").want(t, 0, `{"items":[]}`)
	if tries != 2 {
		t.Errorf("a daemon was started %d times", tries)
	}
}

func TestLockedWithoutAPerson(t *testing.T) {
	for _, verdict := range []string{"agent", "unknown"} {
		f := newFake(t, answers{
			api.OpWhoami:   reply(api.Whoami{Verdict: verdict}),
			api.OpItemList: refusal(api.Locked, "the account is locked"),
		})
		f.person() // a terminal alone makes no person
		f.run("", "item", "list").want(t, 6, "error[locked]: the account is locked", "warder unlock")
	}
}

func TestUnlock(t *testing.T) {
	status := running()
	status.Account = api.AccountStatus{State: accountLocked}
	f := newFake(t, answers{api.OpStatus: reply(status)})
	f.setUp()
	f.run("", "unlock").want(t, 3, "error[denied]: only a person may unlock the account, and this is agent: a test", "warder whoami")
	f.run("", "unlock", "--device-secret").want(t, 2, "--recovery")
	f.person(typed{question: "Master password: ", answer: testPassword})
	f.base.launch = func(context.Context, order) (api.Started, []secret.Value, error) { return api.Started{}, nil, nil }
	f.run("", "unlock").want(t, 0, "unlocked")
	open := newFake(t, answers{api.OpStatus: reply(running())})
	open.setUp()
	open.run("", "unlock").want(t, 0, "unlocked until")
}

// kitValues are what a fresh daemon returns for a kit.
func kitValues(t *testing.T) []secret.Value {
	t.Helper()
	var values []secret.Value
	for _, text := range []string{"DEVICE-CANARY", "CODE-CANARY"} {
		v, err := secret.New([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	return values
}

// A code and a device secret of the right form, which open nothing.
const (
	testCode         = "0000-0000-0000-0000-0000-0000-0000-0000-VS"
	testDeviceSecret = "0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-CS"
)

// TestAMistypedRecoveryCode is told before a new password is asked for, and may
// be typed again.
func TestAMistypedRecoveryCode(t *testing.T) {
	f := newFake(t, answers{api.OpStatus: reply(api.Status{Account: api.AccountStatus{State: accountLocked}})})
	f.setUp()
	f.base.launch = func(context.Context, order) (api.Started, []secret.Value, error) {
		t.Error("a daemon was started")
		return api.Started{}, nil, nil
	}
	ask := "Recovery code (not shown): "
	screen := f.person(
		typed{question: ask, answer: "ABC"},
		typed{question: ask, answer: testPassword},
		typed{question: ask, answer: "1" + testCode[1:]},
	)
	f.run("", "unlock", "--recovery").want(t, 1, "error[wrong_password]", "mistyped", "as it stands on the recovery kit")
	if s := screen(); strings.Contains(s, "New master password") || strings.Contains(s, testPassword) {
		t.Errorf("the terminal shows %q", s)
	}
}

// TestAWaitIsToldBeforeAnythingIsTyped: wrong passwords make the next one wait.
func TestAWaitIsToldBeforeAnythingIsTyped(t *testing.T) {
	f := newFake(t, answers{api.OpStatus: reply(api.Status{Account: api.AccountStatus{State: accountLocked}})})
	f.setUp()
	device := filepath.Join(f.home, "state", "device")
	attempts := fmt.Sprintf(`{"failures":9,"last":%d}`, time.Now().UnixMilli())
	if err := errors.Join(os.MkdirAll(device, 0o700), os.WriteFile(filepath.Join(device, "attempts"), []byte(attempts), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"unlock"}, {"unlock", "--recovery"}} {
		screen := f.person()
		f.run("", args...).want(t, 1, "error[wrong_password]: too many wrong passwords: try again in", "wait, then type it again")
		if s := screen(); s != "" {
			t.Errorf("%q: the terminal shows %q", args, s)
		}
	}
}

func TestRecover(t *testing.T) {
	f := newFake(t, answers{api.OpStatus: reply(api.Status{Account: api.AccountStatus{State: accountLocked}})})
	f.setUp()
	screen := f.person(
		typed{question: "Recovery code (not shown): ", answer: testCode},
		typed{question: "New master password: ", answer: testPassword},
		typed{question: "The same again: ", answer: testPassword},
		typed{question: "Device secret (not shown): ", answer: testDeviceSecret},
	)
	var got []string
	f.base.launch = func(_ context.Context, o order) (api.Started, []secret.Value, error) {
		for _, v := range o.values {
			_ = v.Use(func(b []byte) { got = append(got, string(b)) })
		}
		return api.Started{Account: "acc", StateCode: "SC"}, kitValues(t), nil
	}
	f.run("", "unlock", "--recovery", "--device-secret").want(t, 0, "unlocked; the old recovery code does not work any more")
	if diff := cmp.Diff([]string{testCode, testPassword, testDeviceSecret}, got); diff != "" {
		t.Error(diff)
	}
	if s := screen(); !strings.Contains(s, "DEVICE-CANARY") || !strings.Contains(s, "CODE-CANARY") || strings.Contains(s, testPassword) {
		t.Errorf("the terminal shows %q", s)
	}
}

func TestPasswd(t *testing.T) {
	f := newFake(t, answers{
		api.OpPasswd: proved("change it", reply(api.Receipt{Receipt: receipt})),
		api.OpNewKit: proved("make a new recovery kit", reply(
			api.KitInfo{Receipt: api.Receipt{Receipt: receipt}, Account: "acc", StateCode: "SC"}, "DEVICE-CANARY", "CODE-CANARY")),
	})
	f.run("", "passwd").want(t, 3, "only a person may change the master password")
	screen := f.person(
		typed{question: "Present master password: ", answer: testPassword},
		typed{question: "New master password: ", answer: "short"},
		typed{question: "New master password: ", answer: "password1234"},
		typed{question: "New master password: ", answer: testPassword},
		typed{question: "The same again: ", answer: testPassword},
		typed{question: "Master password: ", answer: testPassword},
	)
	f.run("", "passwd").want(t, 0, "the master password is changed")
	file := filepath.Join(f.home, "kit.txt")
	s := f.run("", "passwd", "--new-kit", "--kit-file", file)
	s.want(t, 0)
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "DEVICE-CANARY") || !strings.Contains(string(text), "State code     SC") {
		t.Errorf("the kit is %q, %v", text, err)
	}
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the kit's mode: %v, %v", fi.Mode(), err)
	}
	f.run("", "passwd", "--new-kit", "--kit-file", file).want(t, 1, "error[exists]")
	shown := screen()
	for _, text := range []string{"It has 5 characters; 12 is the least.", "It is too easy to guess"} {
		if !strings.Contains(shown, text) {
			t.Errorf("the terminal does not show %q: %q", text, shown)
		}
	}
	if strings.Contains(shown+s.out+s.errors, "CANARY") {
		t.Error("a kit that goes to a file shows on the screen")
	}
}

func TestNewPasswordGivesUp(t *testing.T) {
	passwd := answers{api.OpPasswd: proved("change it", reply(nil))}
	f := newFake(t, passwd)
	f.person(
		typed{question: "Present master password: ", answer: "old"},
		typed{question: "New master password: ", answer: testPassword},
		typed{question: "The same again: ", answer: testPassword + "x"},
		typed{question: "New master password: ", answer: "short"},
		typed{question: "New master password: ", answer: "short"},
	)
	f.run("", "passwd").want(t, 2, "no master password was set after 3 tries")
	g := newFake(t, passwd)
	g.person(typed{question: "Present master password: ", answer: "\x03"})
	if s := g.run("", "passwd"); s.status != 130 || s.errors != "" {
		t.Errorf("interrupted: %+v", s)
	}
}

func TestTrust(t *testing.T) {
	f := newFake(t, answers{
		api.OpTrustAdd:    proved("trust a directory", reply(api.TrustDir{Dir: "/real/src"})),
		api.OpTrustRemove: reply(api.TrustDir{Dir: "/real/src"}),
		api.OpTrustList:   reply(api.TrustList{Dirs: []string{"/src"}}),
	})
	f.person(typed{question: "Master password: ", answer: testPassword})
	f.run("", "trust", "sub/..").want(t, 0, "trusted /real/src\n")
	if in := f.last().input; !strings.Contains(in, `"dir":"/`) || strings.Contains(in, "..") {
		t.Errorf("the input is %s", in)
	}
	f.run("", "trust", "list", "--json").want(t, 0, `{"dirs":["/src"]}`)
	f.run("", "trust", "rm", "/src").want(t, 0, "no longer trusted: /real/src\n")
	f.run("", "trust").want(t, 2, "DIR")
	f.run("", "trust", "a", "b").want(t, 2, `"b" is too much`)
}

// record is an audit record as the log holds it.
const record = `{"v":1,"seq":7,"time":"2026-11-30T09:00:00.000Z","event":"permission.decided","id":"i1","session":null,` +
	`"principal":{"verdict":"agent","client":"claude","depth":1},"tool":"item.show","item":".sealed:AAAA","decision":"deny","reason":"no\u001b[2J",` +
	`"rule":null,"source":null,"outcome":null,"reported_by":null,"data":{"n":1},"prev":"p","mac":"m"}`

func TestAudit(t *testing.T) {
	f := newWorld(t)
	stream := func(_ context.Context, call *api.Call, send func(any) error) error {
		f.note(call)
		return send(json.RawMessage(record))
	}
	f.serve(map[string]api.Op{api.OpAuditTail: {Stream: stream}, api.OpAuditShow: {Stream: stream}})
	f.run("", "audit", "tail", "-n", "5").want(t, 0, "7  2026-11-30T09:00:00.000Z  agent claude  permission.decided  item.show  (a closed item, sealed:AAAA)  deny  no\ufffd[2J\n")
	if diff := cmp.Diff(`{"n":5}`, f.last().input); diff != "" {
		t.Error(diff)
	}
	if s := f.run("", "audit", "tail", "--json"); s.out != record+"\n" {
		t.Errorf("printed %q", s.out)
	}
	f.run("", "audit", "show", "i1").want(t, 0, "seq        7\n", `data       {"n":1}`, "principal  {")
	f.run("", "audit", "tail", "-n", "-1").want(t, 2, "not negative")
	f.run("", "audit", "tail", "-n", "999999").want(t, 0, "permission.decided")
	long := `{"seq":8,"item":".sealed:` + strings.Repeat("Ab3+", 180) + `"}`
	f = newWorld(t)
	show := func(_ context.Context, _ *api.Call, send func(any) error) error { return send(json.RawMessage(long)) }
	f.serve(map[string]api.Op{api.OpAuditShow: {Stream: show}})
	if s := f.run("", "audit", "show", "8"); s.out != "seq   8\nitem  (a closed item, sealed:Ab3+Ab3+)\n\n" {
		t.Errorf("printed %q", s.out)
	}
}

func TestAuditVerify(t *testing.T) {
	good := newFake(t, answers{api.OpAuditVerify: reply(api.AuditReport{OK: true, Events: 9, Segments: 2, Full: true})})
	good.run("", "audit", "verify").want(t, 0, "whole: 9 events in 2 segments, each one proved")
	good.run("", "audit", "verify", "--json").want(t, 0, `{"ok":true,"events":9,"segments":2,"full":true}`)
	rotated := newFake(t, answers{api.OpAuditVerify: reply(api.AuditReport{OK: true, Events: 9, First: 201, Segments: 2, Full: true})})
	rotated.run("", "audit", "verify").want(t, 0, "whole: 9 events", "the oldest 200 dropped for their size (kept from seq 201 on)")
	bad := newFake(t, answers{
		api.OpAuditVerify: reply(api.AuditReport{Events: 9, FirstBad: &api.AuditBad{Seq: 4, Cause: "tamper", Text: "its hash does not fit"}}),
		api.OpAuditSeal:   proved("declare the log broken", reply(api.AuditSealed{Seq: 10, Text: "goes on"})),
	})
	bad.run("", "audit", "verify").want(t, 8, "broken at seq 4: tamper: its hash does not fit", "warder audit seal")
	bad.run("", "audit", "verify", "--json").want(t, 8, `"first_bad":{"seq":4,"cause":"tamper"`)
	bad.person(typed{question: "Master password: ", answer: testPassword})
	bad.run("", "audit", "seal").want(t, 0, "declared at seq 10: goes on")
}

func TestRepair(t *testing.T) {
	f := newFake(t, answers{
		api.OpRepairList: reply(api.RepairList{
			Findings: []api.Finding{{Kind: "cloned", Object: "device", Text: "two devices write as one"}},
			Orphans:  []api.Orphan{{ID: "abc", Vault: "personal", Kind: "item", Name: "x", Modified: "m"}},
		}),
		api.OpRepair: proved("repair", reply(api.Repaired{Mended: []string{"x"}})),
	})
	f.run("", "repair").want(t, 0, "warder repair new-device", "warder repair adopt abc")
	f.run("", "repair", "nothing").want(t, 2, "no repair called")
	f.run("", "repair", "adopt").want(t, 2, "wants an id")
	f.run("", "repair", "new-device", "x").want(t, 2, "takes no id")
	f.person(typed{question: "Master password: ", answer: testPassword})
	f.run("", "repair", "adopt", "abc").want(t, 0, "got an older revision  x")
	if diff := cmp.Diff(`{"presence":true,"hash":"hash of repair","challenge":"challenge of repair","do":"adopt","id":"abc"}`, f.last().input); diff != "" {
		t.Error(diff)
	}
}

func TestDoctor(t *testing.T) {
	f := newFake(t, answers{api.OpStatus: reply(running()), api.OpWhoami: reply(api.Whoami{Verdict: "agent", Why: "a test"})})
	s := f.run("", "doctor", "--json")
	var got struct {
		OK     bool
		Checks []check
	}
	if err := json.Unmarshal([]byte(s.out), &got); err != nil {
		t.Fatalf("%v: %q", err, s.out)
	}
	seen := map[string]check{}
	for _, c := range got.Checks {
		seen[c.Name] = c
		if (c.Do == "") != (c.Result == checkOK) || c.Text == "" {
			t.Errorf("a line that says not what to do, or too much: %+v", c)
		}
	}
	for _, name := range []string{"memory", "callers", "dumps", "data", "state", "config", "runtime", "socket", "clock", "installation", "this shell"} {
		if _, there := seen[name]; !there {
			t.Errorf("no check called %q", name)
		}
	}
	if err := os.Chmod(filepath.Join(f.home, "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.run("", "doctor").want(t, 1, "broken   runtime: ", "loose mode 0755", "-> chmod", "1 broken")
}
