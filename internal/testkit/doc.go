// Package testkit holds what the tests of several packages share.
//
// It answers for four things:
//
//   - [AsUser] runs a test again as an ordinary user, because root passes
//     every permission check and so proves nothing about owners and modes;
//   - [Search] looks for planted secrets (canaries) in files and byte streams,
//     in every encoding that a leak is likely to take;
//   - [Cases] reads the case files under testdata;
//   - [Examples] reads the commands of a document, and what it says they print.
//
// It is the one package outside test files that may import testing, and no
// package that ends up in an executable may import it.
//
// A helper here must not be able to pass by doing nothing: AsUser wants to see
// the inner test's verdict, Search first finds a secret it planted itself, and
// Cases refuses an empty selection.
package testkit
