package cli

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/mask"
	"warder/internal/platform"
	"warder/internal/proc"
)

// maskFlags are the flags of "warder mask".
type maskFlags struct {
	items          []string
	selfTest, json bool
}

// newMask builds "warder mask".
func newMask(env *Env) *cobra.Command {
	var o maskFlags
	cmd := &cobra.Command{
		Use:   "mask [--set ITEM]… [-- COMMAND [ARGUMENT…]]",
		Short: "Hide stored values in an output",
		Long: `Run a program and hide in what it prints every value that the account holds, or
do the same with what is piped in. A mark, ****(NAME), stands in the place of a
value, also where it was printed in base64, hex, JSON and the like. All else
passes byte for byte. No value gets to this command: it sends the output to the
daemon. While the account is locked, and after any error, nothing passes.

With --set only the values of that item are hidden.

For an agent, what it was lent is hidden, and of all else the values of 8 bytes
and more that are hard to guess. It gets the output when it has ended, 64 MiB at
most. More than 20 values in it that it was not lent, or within a minute a third
output that holds some which none before did, end it: hiding must not confirm
guesses.

The program is started as by "warder run": it keeps its signals, its exit status
and, where it prints to one, a terminal. warder's own failures have exit status
125 then, a program that can't be run 126, one that is not there 127.

With --self-test a value made up for it is printed in each form that is hidden,
without the daemon.`,
		Example: `  warder mask -- ./deploy.sh
  kubectl logs web | warder mask
  warder mask --set github-token -- gh auth status
  warder mask --self-test`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault // behind -- are programs and files
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, env, args) },
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError("%v", err).WithHint(usedAs(cmd) + "; flags of the program stand behind --")
	})
	f := cmd.Flags()
	f.StringArrayVar(&o.items, "set", nil, "hide the values of this `item` alone; repeatable")
	f.BoolVar(&o.selfTest, "self-test", false, "print which forms of a value are hidden")
	f.BoolVar(&o.json, "json", false, "with --self-test, print one JSON object")
	_ = cmd.RegisterFlagCompletionFunc("set", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return itemNames(env), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func (o *maskFlags) run(cmd *cobra.Command, env *Env, args []string) error {
	dash := cmd.ArgsLenAtDash()
	switch {
	case o.selfTest && (len(args) > 0 || len(o.items) > 0):
		return usageError("--self-test takes nothing else")
	case o.selfTest:
		return selfTestMask(env, o.json)
	case o.json:
		return usageError("--json is for --self-test: what is masked stays as it is")
	case dash < 0 && len(args) > 0, dash > 0:
		return usageError("%q is too much before the program", args[0]).WithHint("put the program behind --, items behind --set: " + cmd.UseLine())
	case dash == 0 && len(args) == 0:
		return usageError("there is no program behind --")
	}
	m := &maskOutput{env: env, in: api.MaskBegin{Items: o.items}}
	if dash == 0 {
		return m.program(cmd.Context(), args)
	}
	if isTerminal(env.In) {
		return usageError("nothing is piped in, and no program is named").WithHint(usedAs(cmd))
	}
	return m.filter(cmd.Context())
}

// exitNotHidden is the status of --self-test where a form is not hidden.
const exitNotHidden = 1

// selfTested is the --json output of --self-test.
type selfTested struct {
	OK    bool       `json:"ok"`
	Forms []formTest `json:"forms"`
}

type formTest struct {
	Form   string `json:"form"`
	Hidden bool   `json:"hidden"`
}

// selfTestMask shows which forms of a value are hidden. It ends with status 1 if one is not.
func selfTestMask(env *Env, asJSON bool) error {
	tried, err := mask.SelfTest()
	if err != nil {
		return err
	}
	out, list := selfTested{OK: true}, columns{}
	for _, t := range tried {
		out.Forms = append(out.Forms, formTest(t))
		out.OK = out.OK && t.Hidden
		word := "hidden"
		if !t.Hidden {
			word = "NOT HIDDEN"
		}
		list.add(t.Form, word)
	}
	if asJSON {
		err = printJSON(env.Out, out)
	} else {
		err = list.print(env.Out)
	}
	if err == nil && !out.OK {
		return outcome(exitNotHidden)
	}
	return err
}

// maskOutput has an output masked by the daemon.
type maskOutput struct {
	env *Env
	in  api.MaskBegin
}

// converse asks the daemon to mask, and calls with once it does. The error of with is returned as it is.
func (m *maskOutput) converse(ctx context.Context, with func(way *reach, begun api.MaskBegun, d *frame.Dialogue) error) error {
	way, err := m.env.reach()
	if err != nil {
		return err
	}
	defer way.close()
	var done api.Masked
	var begun api.MaskBegun
	return dialogue(ctx, way, api.OpMask, api.Talk{In: m.in, Begun: &begun, Out: &done}, func(d *frame.Dialogue) error { return with(way, begun, d) })
}

// filter masks what is piped in.
func (m *maskOutput) filter(ctx context.Context) error {
	return m.converse(ctx, func(_ *reach, begun api.MaskBegun, d *frame.Dialogue) error {
		w := newMaskedStream(d, 0, begun.Whole, m.env.rawOut)
		buf := make([]byte, frame.MaxPiece)
		for {
			n, err := m.env.In.Read(buf)
			if n > 0 {
				if _, err := w.Write(buf[:n]); err != nil {
					return filterFailed(err)
				}
			}
			if errors.Is(err, io.EOF) {
				return filterFailed(w.Close())
			}
			if err != nil {
				return api.Errorf(api.Internal, "reading what is piped in: %v", err).WithHint("see to the program that writes it").WithCause(err)
			}
		}
	})
}

// filterFailed is why a filter ended before its time. One that nobody reads any more has nothing to say.
func filterFailed(err error) error {
	var known *api.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case platform.IsReaderGone(err):
		return outcome(exitReaderGone)
	}
	return api.Errorf(api.Internal, "writing output: %v", err).WithHint("what was printed is incomplete: check where it goes to").WithCause(err)
}

// exitReaderGone is the status of a filter whose reader has gone, as shells tell it: 128 and SIGPIPE.
const exitReaderGone = 128 + 13

// program runs a program and masks what it prints.
func (m *maskOutput) program(ctx context.Context, argv []string) error {
	path, err := lookPath(m.env, argv[0])
	if err != nil {
		if there := notExecutable(m.env, argv[0]); there != "" {
			err = api.Errorf(api.NotFound, "%s can't be run: it is no executable file", there).WithHint("chmod +x it if it is a program, or name another one")
			return failedRun(m.env, err, exitNotRunnable)
		}
		return failedRun(m.env, err, exitNotFound)
	}
	spec := proc.Spec{Path: pathAsWritten(argv[0], path), Argv: argv, Env: m.env.Environ()}
	if spec.Streams, err = streamsOf(m.env); err != nil {
		return err
	}
	var ended proc.Outcome
	err = m.converse(ctx, func(way *reach, begun api.MaskBegun, d *frame.Dialogue) error {
		if _, blind := platform.OwnProgramPath(); blind != nil && way.install != nil {
			spec.Self = way.install.Binary
		}
		texts := 0
		spec.Mask = func(dst io.Writer) io.WriteCloser {
			texts++
			return newMaskedStream(d, texts-1, begun.Whole, dst)
		}
		var err error
		ended, err = proc.Run(spec)
		return err
	})
	return m.programEnded(ended, err)
}

// programEnded is how the command ends with its program.
func (m *maskOutput) programEnded(ended proc.Outcome, err error) error {
	var output *proc.OutputError
	var known *api.Error
	switch {
	case errors.As(err, &output) && errors.As(err, &known):
		return known // which says why no more is shown
	case errors.As(err, &output):
		return api.Errorf(api.Internal, "%v", output).WithCause(output).WithHint("it ran; see to where its output goes before you run it again")
	case err != nil:
		if status, told := notStarted(err); status != 0 {
			return failedRun(m.env, told, status)
		}
		return err
	}
	if status := ended.Status(); status != 0 {
		return outcome(status)
	}
	return nil
}

// afterIdle is when what the daemon may have let go meanwhile is fetched, once nothing came for a while (mask.IdleAfter).
const afterIdle = 2 * mask.IdleAfter

// maskedStream is an output that goes through the daemon. It is safe for concurrent use.
type maskedStream struct {
	d    *frame.Dialogue
	text int
	dst  io.Writer
	live bool // parts of it come before its end

	mu   sync.Mutex // held while dst is written
	err  error
	got  []byte
	idle *time.Timer
}

func newMaskedStream(d *frame.Dialogue, text int, whole bool, dst io.Writer) *maskedStream {
	s := &maskedStream{d: d, text: text, dst: dst, live: !whole}
	if s.live {
		s.idle = time.AfterFunc(afterIdle, s.poll)
		s.idle.Stop()
	}
	return s
}

// Write takes all of p or fails. An error is final.
func (s *maskedStream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live {
		s.idle.Stop()
		defer s.idle.Reset(afterIdle)
	}
	for rest := p; len(rest) > 0; {
		n := min(len(rest), frame.MaxPiece)
		if err := s.pass(rest[:n], false); err != nil {
			return 0, err
		}
		rest = rest[n:]
	}
	return len(p), nil
}

// Close passes on what is left.
func (s *maskedStream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.pass(nil, true)
	if s.live {
		s.idle.Stop()
		s.live = false
	}
	return err
}

// poll fetches what the daemon let go since nothing came.
func (s *maskedStream) poll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live {
		_ = s.pass(nil, false) // the next Write tells
	}
}

// pass sends a piece and writes what may be shown by now.
func (s *maskedStream) pass(p []byte, last bool) error {
	for more := true; more && s.err == nil; p, last = nil, false {
		s.err = s.d.Ask(frame.Piece{Text: s.text, Bytes: p, Last: last}, func(answer frame.Piece) {
			s.got, more = append(s.got[:0], answer.Bytes...), answer.More
		})
		if s.err == nil && len(s.got) > 0 {
			_, s.err = s.dst.Write(s.got)
		}
	}
	return s.err
}
