package daemon_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warder/internal/api"
)

// keyPrograms are what others look for to keep a key, or to ask for a password.
var keyPrograms = [...]string{
	"secret-tool", "pass", "gopass", "gpg", "gpg2", "gpgconf", "gpg-agent", "gpg-connect-agent", "pinentry", "kwallet-query", "kwalletcli",
	"gnome-keyring-daemon", "keyctl", "security", "ssh-askpass", "ssh-add", "dbus-launch", "dbus-send", "busctl", "op", "bw", "systemd-ask-password",
	"zenity", "kdialog", "powershell.exe", "wincred.exe", "pass.exe", "systemd-creds", "age", "tpm2_unseal",
}

// TestU_149_WhatHoldsTheKeys: one typed password is remembered until a time that status names, by the daemon's memory and nothing
// else. No program that is there is taken for a keyring, and a keyring that was wanted and is not there is an error, not something
// else in its place.
func TestU_149_WhatHoldsTheKeys(t *testing.T) {
	h := newHome(t)
	password := h.account(t)
	bin, ran := filepath.Join(h.dir, "path"), filepath.Join(h.dir, "ran")
	must(t, os.Mkdir(bin, 0o700))
	for _, name := range keyPrograms {
		script := fmt.Sprintf("#!/bin/sh\necho %s >> %s\n", name, ran)
		must(t, os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700))
	}
	warder := func(line string) (string, error) {
		cmd := exec.Command(h.binary, strings.Fields(line)...)
		cmd.Env = []string{
			"HOME=" + h.dir, "WARDER_HOME=" + h.dir, "PATH=" + bin + ":/usr/bin:/bin", "DISPLAY=:9", "SSH_ASKPASS=" + filepath.Join(bin, "ssh-askpass"),
			"DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(h.dir, "no-bus"), "GNOME_KEYRING_CONTROL=" + h.dir, "GPG_AGENT_INFO=" + h.dir,
		}
		text, err := cmd.CombinedOutput()
		return string(text), err
	}

	before := time.Now()
	h.unlock(t, password)
	for range 3 { // nobody is asked again
		if text, err := warder("item list"); err != nil {
			t.Fatalf("it is not remembered: %v: %s", err, text)
		}
	}
	a := h.status(t).Account
	until, err := time.Parse(time.RFC3339, a.LocksAt)
	must(t, err)
	if most := before.Add(13 * time.Hour); !until.After(before) || until.After(most) {
		t.Errorf("remembered until %s", until)
	}
	if _, err := os.Stat(a.DeviceSecretFile); err != nil || a.PasswordFile != "" {
		t.Errorf("what it opens with: %+v, %v", a, err)
	}
	for _, line := range []string{"status", "doctor"} {
		text, _ := warder(line)
		for _, want := range []string{"in the daemon's memory alone, until " + a.LocksAt, "your master password", a.DeviceSecretFile} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", line, want, text)
			}
		}
	}
	if text, err := warder("lock"); err != nil {
		t.Fatalf("locking: %v: %s", err, text)
	}
	if text, err := warder("item list"); err == nil || !strings.Contains(text, "error[locked]") {
		t.Errorf("still remembered: %v: %s", err, text)
	}
	if text, _ := warder("status"); !strings.Contains(text, "held by nobody") {
		t.Errorf("locked: %s", text)
	}
	h.stop(t)

	other := newHome(t)
	_, _, err = other.start(t, api.OpStartCreate, api.StartCreate{Unattended: true, DeviceSecret: "keyring"})
	if codeOf(err) != api.Internal {
		t.Errorf("a keyring that nobody has: %v", err)
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("these were run: %s", text)
	}
}
