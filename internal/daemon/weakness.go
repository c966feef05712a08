package daemon

import (
	"bytes"
	_ "embed" // for the words
	"fmt"
	"strings"

	"warder/internal/mask"
	"warder/internal/secret"
	"warder/internal/vault"
)

// What is judged of a value when it is stored: shorter or weaker ones are not looked for in the output of who was not lent them, since whoever
// prints all that there are of their kind would see which one is hidden.
const (
	shortValue = 8
	weakScore  = 3
)

// ordinaryWords are words that programs print.
//
//go:embed ordinary.txt
var ordinaryWords string

// longestWord is the length of the longest of them.
const longestWord = len("configuration")

// fewWords is in how many of these words a value may occur.
const fewWords = 3

// warningsOf says what is weak about stored values.
func warningsOf(fields []vault.Field) []string {
	warnings := []string{}
	for _, f := range fields {
		if text := weakness(f.Name, f.Value, f.Concealed); text != "" {
			warnings = append(warnings, text)
		}
	}
	return warnings
}

// weakness says why a value will not be hidden as a person may expect it, or why hiding it tells what it is. It is the one place that judges
// values when they are stored, and holds nothing of one but its name.
func weakness(name string, value secret.Value, concealed bool) (text string) {
	if value.Len() == 0 {
		return fmt.Sprintf("the value of %s is empty", name)
	}
	if !concealed {
		return ""
	}
	if value.Use(func(b []byte) { text = weaknessOf(b) }) != nil || text == "" {
		return "" // it was wiped: there is nothing to say of it
	}
	return fmt.Sprintf("the value of %s %s", name, text)
}

// weaknessOf is the sentence of a value, without its beginning.
func weaknessOf(b []byte) string {
	const onlyLent = "in what an agent sees it is hidden only where that was lent it"
	if len(b) < mask.MinLength {
		return fmt.Sprintf("is shorter than %d bytes: it is never masked", mask.MinLength)
	}
	common, all := ordinaryUses(b)
	score := secret.Strength(b)
	switch {
	case common > fewWords:
		return fmt.Sprintf("occurs in %d of %d words that programs print: where it is masked these are too, which shows what it is; %s", common, all, onlyLent)
	case secret.IsWord(b) || common > 0 && score < weakScore:
		return "is a word, a part of one or a known password: where it is masked that word is too, which shows what it is; " + onlyLent
	case len(b) < shortValue:
		return fmt.Sprintf("is shorter than %d bytes: %s", shortValue, onlyLent)
	case score < weakScore:
		return fmt.Sprintf("is easy to guess (strength %d of 4): %s", score, onlyLent)
	}
	return ""
}

// ordinaryUses counts in how many of the words that programs print a value occurs, in whatever case.
func ordinaryUses(value []byte) (uses, words int) {
	var room [longestWord]byte
	folded := room[:0]
	if len(value) <= longestWord {
		folded = append(folded, value...)
		for i, c := range folded {
			if 'A' <= c && c <= 'Z' {
				folded[i] = c + 'a' - 'A'
			}
		}
	}
	for word := range strings.FieldsSeq(ordinaryWords) {
		words++
		if len(folded) > 0 && bytes.Contains([]byte(word), folded) {
			uses++
		}
	}
	secret.Wipe(room[:])
	return uses, words
}
