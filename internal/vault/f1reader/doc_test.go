// Package f1reader is a second reader of the vault's format, F1. It was
// written from the text of docs/formats.md alone and shares no code with the
// vault: it proves that the text is enough to get one's secrets back without
// warder, and that the text and the vault agree.
//
// It only reads, it is slow and plain, and it exists in tests alone. Where the
// text offers a fallback (junk keysets, damaged revisions) it takes it; all
// else that does not fit is an error or a finding.
//
// Files: gcmsiv, codec, clear, json and form are the encodings; disk is what a
// reader accepts of a file system; keyset, card, item, manifest and local are
// the objects; account and view put them together; findings compares with the
// local memory. maker builds stores for the cases that the fixture lacks.
package f1reader
