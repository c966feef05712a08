// Package dotenv reads and writes .env files.
//
// Every tool reads .env files a little differently, and passwords were cut at a
// "#", expanded at a "$" or lost behind a byte order mark for it. This package
// has one reading, written down below in full, and a writer whose output that
// reading gives back byte for byte. It is pure: no files, no environment, no
// expansion.
//
// # Grammar
//
// A file is bytes, at most [MaxFile] of them; only the ASCII characters named
// here have a meaning. A NUL byte anywhere is an error. One UTF-8 byte order mark
// at the very start is dropped. A line ends with LF, CRLF, a CR alone or the end
// of the file; lines count from 1, those inside quotes too. A blank is a space or
// a tab. In the notation of RFC 5234, with eol for one of those four ends, the
// longest match taken first:
//
//	file     = [ BOM ] *line
//	line     = *blank [ comment / entry ] eol
//	comment  = "#" *(any byte but CR, LF)
//	entry    = [ %s"export" 1*blank ] key *blank "=" value
//	key      = (ALPHA / DIGIT / "_") *127(ALPHA / DIGIT / "_" / "." / "-")
//	value    = *blank quoted *blank [ blank comment ] / unquoted
//	quoted   = "'" *(any byte but "'") "'"
//	         / DQUOTE *(any byte but DQUOTE, "\" / "\" any byte) DQUOTE
//	unquoted = *(any byte but CR, LF)  ; a comment may end it, see below
//
// A value is quoted if its first byte that is no blank is a quote. In words, and
// what each form then holds:
//
//   - "export" is a prefix only if a key follows the blanks after it: "export = 1"
//     sets the key "export". Keys keep their case, may hold dots and dashes and
//     may begin with a digit; [IsVariable] says which can be variables.
//   - Unquoted: what follows the "=", up to the first "#" that has a blank before
//     it and stands in no pair of quotes, else to the end of the line; then blanks
//     at both ends are removed. Any other "#", quotes, backslashes, "$" and
//     backticks are themselves: A=#1 is "#1", A= #1 is empty, and JSON on one line
//     stays as it is, {"a": "b #c"} too.
//   - A pair of quotes in an unquoted value keeps a "#" in it from beginning a
//     comment, and means nothing else: its quotes are part of the value. Pairs are
//     looked for from the left and end on the line. A double quote with no backslash
//     before it pairs with the next one, where a backslash hides the byte after it.
//     A single quote that is not right behind a letter pairs with the next one that
//     is not right before a letter, so that the apostrophes of it's and don't make no
//     pair (digits, "_" and bytes above 127 count as letters). A quote without its
//     second is itself: A=it's # c is "it's".
//   - Single quotes: the bytes between them, as they are.
//   - Double quotes: the bytes between them, in which \n \r \t \" \\ \$ \` stand
//     for LF, CR, tab and the character itself. Any other backslash is itself.
//     The set holds everything that a POSIX shell escapes there, so that a "$"
//     written for a shell means the same here.
//   - Inside both kinds of quotes line ends are kept, CRLF as LF. A CR without LF
//     stays a CR. A backslash before a line end is itself.
//   - After a closing quote come only blanks and a comment, the comment after at
//     least one blank. "x"y and "x"#y differ from tool to tool and are errors.
//   - A key set again replaces the earlier entry, which loses its place in the
//     order, and gives a warning that names both lines. So does a comment behind a
//     double quote of an unquoted value that has no second, as in {"a": "b #c}.
//   - Nothing is ever expanded: no "$", no backticks, no "~". There is no option
//     for it, because nothing in warder asks for expansion yet.
//
// A line that is none of these, a key without "=", a longer key, a quote that is
// not closed and more than [MaxEntries] entries are errors. An error names file
// and line (of an open quote, the line where it begins) and carries no byte of
// the file, not even the key: on a line that can't be read, what looks like a key
// may be half of a secret. Warnings name keys, never values. After an error there
// are no entries at all.
//
// # Dialects
//
// [Format] writes one entry after the other, each ended by LF, and refuses what it
// can't write before it writes anything. No dialect takes NUL bytes, a name given
// twice, or more entries or bytes than Parse reads.
//
//   - [DialectEnv] is the grammar above; names are keys. A value of only letters,
//     digits and _ . / : @ % + , - stands bare. Any other without single quote and
//     CR stands in single quotes, over several lines if need be: the form that
//     most readers take as it is. The rest stands in double quotes, with CR as \r
//     and a backslash before each of \ " $ and backtick.
//   - [DialectShell] is export NAME='value' for a POSIX shell, with a single quote
//     inside as quote, backslash, quote, quote. Sourcing it runs nothing: names
//     must be variables, and the few that shells evaluate are held to harmless
//     values (names.go). What later programs do with a variable such as PATH, ENV
//     or LD_PRELOAD is not judged. fish and csh quote in other ways and can't read it.
//   - [DialectDocker] is NAME=value for docker's --env-file, which takes the rest
//     of the line as it is. A value with CR or LF, one that is not UTF-8 and a line
//     over 65,535 bytes are refused: docker would change it or refuse the file.
//
// # Secrets
//
// Values share no memory with the input. The parser holds each value once and
// wipes those that it drops (replaced entries, and all on error); Format wipes its
// buffer. The input, the entries and what the io.Writer keeps are the caller's to
// wipe. Keys become strings, which can't be wiped.
//
// Time and memory are linear in the input. Left to the caller: keys that differ
// only in case, and limits on single values.
//
// Files: dotenv.go has the types and errors, parse.go the reader, format.go the
// writer, names.go which names are keys, variables, or known to shells.
package dotenv
