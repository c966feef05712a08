package e2e_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// caseValue is what a case wants as a value: {"lit": …}, or {"gen": …}, which is made afresh in each run so that nothing that looks like
// a key lies in a repository.
type caseValue string

func (v *caseValue) UnmarshalJSON(b []byte) error {
	var spec struct {
		Lit *string `json:"lit"`
		Gen string  `json:"gen"`
		Len int     `json:"len"`
	}
	if err := strict(b, &spec); err != nil {
		return err
	}
	switch {
	case spec.Lit != nil:
		*v = caseValue(*spec.Lit)
	case spec.Gen == "alnum":
		*v = caseValue(letters(spec.Len))
	case spec.Gen == "pem":
		*v = caseValue(newKey(600))
	case spec.Gen == "service_account_json":
		text, err := json.Marshal(map[string]string{
			"type": "service_account", "project_id": "harmless-project", "private_key": newKey(600), "client_email": "robot@example.test",
		})
		*v = caseValue(text)
		return err
	default:
		return fmt.Errorf("no value is made of %s", b)
	}
	return nil
}

// letters are so many letters and digits.
func letters(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(rand.Text())
	}
	return b.String()[:n]
}

// newKey has the form of a private key of so many bytes.
func newKey(size int) string {
	raw := make([]byte, size)
	_, _ = rand.Read(raw)
	text := "-----BEGIN " + "PRIVATE KEY-----\n"
	for body := base64.StdEncoding.EncodeToString(raw); body != ""; {
		n := min(64, len(body))
		text, body = text+body[:n]+"\n", body[n:]
	}
	return text + "-----END " + "PRIVATE KEY-----\n"
}

// fill puts what they stand for in the place of {{NAME}}, {{NAME.KEY}} and {{NAME|FORM}}.
func (c *userCase) fill(text string) string {
	return regexp.MustCompile(`\{\{([A-Z0-9_]+)(?:\.([a-z_]+))?(?:\|([a-z0-9]+))?\}\}`).ReplaceAllStringFunc(text, func(word string) string {
		name, form, _ := strings.Cut(strings.Trim(word, "{}"), "|")
		name, key, _ := strings.Cut(name, ".")
		if name == "TMP" {
			return c.temp
		}
		value, ok := c.Setup.Vault[name]
		if !ok {
			value, ok = c.Setup.NonVault[name]
		}
		if !ok {
			panic(c.ID + ": nothing is called " + word)
		}
		if key != "" {
			var object map[string]string
			if err := json.Unmarshal([]byte(value), &object); err != nil {
				panic(err)
			}
			value = caseValue(object[key])
		}
		return inForm(string(value), form)
	})
}

// inForm is a value in one of the forms that cases name.
func inForm(value, form string) string {
	name := strings.TrimRight(form, "0123456789")
	n, _ := strconv.Atoi(form[len(name):])
	if form == "b64" {
		name = form
	}
	switch name {
	case "":
		return value
	case "b64":
		return base64.StdEncoding.EncodeToString([]byte(value))
	case "b64line": // of base64 in lines of 76
		encoded := base64.StdEncoding.EncodeToString([]byte(value))
		return encoded[76*(n-1) : min(76*n, len(encoded))]
	case "url":
		return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	case "urlplus":
		return url.QueryEscape(value)
	case "hexupper":
		return strings.ToUpper(hex.EncodeToString([]byte(value)))
	case "first":
		return value[:n]
	case "last":
		return value[len(value)-n:]
	case "line":
		return strings.Split(value, "\n")[n-1]
	}
	panic("no value has the form " + form)
}
