// Command warder stands between AI coding agents and the machine they work on:
// agents get hands, not keys.
//
// It hands the process's streams, environment and clock to the command tree
// and turns its answer into the exit status; there is no logic here.
package main

import (
	"context"
	"os"
	"time"

	"warder/internal/cli"
)

func main() {
	env := cli.Env{
		In:      os.Stdin,
		Out:     os.Stdout,
		Err:     os.Stderr,
		Getenv:  os.Getenv,
		Environ: os.Environ,
		Now:     time.Now,
	}
	os.Exit(cli.Run(context.Background(), env, os.Args[1:]))
}
