package person_test

import (
	"os"
	"testing"

	"warder/internal/e2e/person"
)

func TestMain(m *testing.M) {
	os.Exit(person.Main(m))
}
