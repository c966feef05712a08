package secret_test

import (
	"testing"

	"warder/internal/secret"
)

// TestU_23_IsWord: a word is known in any case, and alone.
func TestU_23_IsWord(t *testing.T) {
	for text, want := range map[string]bool{
		"test": true, "Dragon": true, "PASSWORD": true, "letmein": true, "monkey1": false,
		"": false, "tes": false, "tést": false, "test ": false, "dragonhorse": false, "kX9vQ2mZ7p": false, "dragonflz": false,
	} {
		if got := secret.IsWord([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
