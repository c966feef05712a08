package dotenv

import "bytes"

// IsVariable reports whether name can be an environment variable in every
// shell: [A-Za-z_][A-Za-z0-9_]*.
func IsVariable(name string) bool {
	if name == "" || isDigit(name[0]) {
		return false
	}
	for i := range len(name) {
		if !isWord(name[i]) {
			return false
		}
	}
	return true
}

// isKey reports whether the whole name is a key of the grammar.
func isKey(name string) bool {
	return name != "" && len(name) <= maxKey && keyLength([]byte(name)) == len(name)
}

// keyLength is the number of bytes at the start of b that can form a key,
// whatever their number; 0 if there is none.
func keyLength(b []byte) int {
	if len(b) == 0 || !isWord(b[0]) {
		return 0
	}
	n := 1
	for n < len(b) && (isWord(b[n]) || b[n] == '.' || b[n] == '-') {
		n++
	}
	return n
}

func isWord(c byte) bool {
	return c == '_' || isDigit(c) || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// shellHazard says why a shell that sources name='value' might run the value,
// or "" if it won't. Quotes don't help here: these variables are evaluated by the
// assignment itself or by the same shell's next prompt or trace line.
func shellHazard(name string, value []byte) string {
	switch {
	case name == "PROMPT_COMMAND":
		return "bash runs this variable as a command"
	case shellNumber(name) && !allDigits(value):
		return "shells compute this variable, which can run commands: only digits are safe"
	case shellPrompt(name) && bytes.ContainsAny(value, "$`\\"):
		return "shells expand this variable as a prompt: $, ` and \\ are not safe"
	}
	return ""
}

// shellNumber reports whether bash, ksh, mksh or zsh keeps name as an integer.
// Assigning to one computes the text, and array indexes in it are expanded: in
// bash, RANDOM='a[$(id)]' runs id.
func shellNumber(name string) bool {
	switch name {
	case "ARGC", "BASHPID", "BASH_SUBSHELL", "BAUD", "COLUMNS", "DIRSTACKSIZE",
		"EGID", "EPOCHREALTIME", "EPOCHSECONDS", "ERRNO", "EUID", "FUNCNEST", "GID",
		"HISTCMD", "HISTSIZE", "JOBMAX", "KEYTIMEOUT", "KSHEGID", "KSHGID", "KSHUID",
		"LINENO", "LINES", "LISTMAX", "LOGCHECK", "MAILCHECK", "OPTERR", "OPTIND", "PGRP",
		"PPID", "RANDOM", "REPORTMEMORY", "REPORTTIME", "SAVEHIST", "SECONDS",
		"SHLVL", "SRANDOM", "TMOUT", "TRY_BLOCK_ERROR", "TRY_BLOCK_INTERRUPT",
		"TTYIDLE", "UID", "USER_ID", "ZSH_SUBSHELL":
		return true
	}
	return false
}

// shellPrompt reports whether a shell expands the value of name later on its own:
// the prompts of POSIX, bash and zsh, and bash's text about new mail. A
// backslash counts because bash decodes \044 to $ first.
func shellPrompt(name string) bool {
	switch name {
	case "PS0", "PS1", "PS2", "PS3", "PS4", "MAILPATH",
		"PROMPT", "PROMPT2", "PROMPT3", "PROMPT4", "SPROMPT",
		"RPROMPT", "RPROMPT2", "RPS1", "RPS2":
		return true
	}
	return false
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return true
}
