package caller

import (
	"bytes"
	"net/netip"
	"strings"
)

// mark is a variable that an agent sets for what it starts.
type mark struct {
	name   string // of the variable
	client string // "" for any
	value  string // "" takes all but the empty one; a final * takes what goes on
}

func parseMark(client, text string) mark {
	name, value, _ := strings.Cut(text, "=")
	return mark{name: name, client: client, value: value}
}

// matches reports whether a value of the variable is the mark.
func (m mark) matches(value string) bool {
	if value == "" { // unset, as far as its reader can tell
		return false
	}
	prefix, open := strings.CutSuffix(m.value, "*")
	return m.value == "" || value == m.value || open && strings.HasPrefix(value, prefix)
}

// traces is what an environment says about who runs there. Everything in it
// lowers a verdict; nothing can raise one, and values are not kept.
type traces struct {
	marks    []mark
	loopback bool // logged in over ssh from this machine itself
}

// sshVariable holds the two ends of the connection that sshd serves.
const sshVariable = "SSH_CONNECTION"

// note takes one entry, NAME=VALUE, into account.
func (tr *traces) note(t *Tables, entry []byte) {
	end := bytes.IndexByte(entry, '=')
	if end < 0 {
		return
	}
	if string(entry[:end]) == sshVariable {
		tr.loopback = tr.loopback || isLoopback(string(entry[end+1:]))
		return
	}
	for _, m := range t.marks[string(entry[:end])] {
		if m.matches(string(entry[end+1:])) {
			tr.marks = append(tr.marks, m)
		}
	}
}

// tracesOf asks for each variable by name.
func tracesOf(t *Tables, getenv func(string) string) traces {
	tr := traces{loopback: isLoopback(getenv(sshVariable))}
	for _, name := range t.markNames {
		value := getenv(name)
		for _, m := range t.marks[name] {
			if m.matches(value) {
				tr.marks = append(tr.marks, m)
			}
		}
	}
	return tr
}

// isLoopback reports whether SSH_CONNECTION (client address, its port, server
// address, its port) shows a login from this machine itself.
func isLoopback(connection string) bool {
	fields := strings.Fields(connection)
	if len(fields) < 3 {
		return false
	}
	client, err := netip.ParseAddr(fields[0])
	if err != nil {
		return false
	}
	server, err := netip.ParseAddr(fields[2])
	return client.Unmap().IsLoopback() || err == nil && client.Unmap() == server.Unmap()
}
