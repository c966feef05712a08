package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/mask"
	"warder/internal/platform"
	"warder/internal/proc"
	"warder/internal/secret"
)

// Exit statuses of run where there is none of the program: as env(1) and shells have them.
const (
	exitRunFailed   = 125
	exitNotRunnable = 126
	exitNotFound    = 127
)

// runFlags are the flags of "warder run".
type runFlags struct {
	vault, project, stage, envFile string
	envVars, maps, files, only     []string
	stdin                          stdinFlag
	mask                           bool
}

// stdinOfItem is the value of --stdin without a field: no field has such a name.
const stdinOfItem = "-"

// stdinFlag is --stdin [FIELD]. Flags with a value that may be missing take it only behind "=", so a field behind a space is the
// argument that follows the flag.
type stdinFlag struct {
	field string
	at    int        // how many arguments came before it
	nargs func() int // of those that were parsed
}

func (f *stdinFlag) String() string { return f.field }
func (f *stdinFlag) Type() string   { return "field" }

func (f *stdinFlag) Set(field string) error {
	f.field, f.at = field, f.nargs()
	return nil
}

// takeField takes the field from the arguments, where it is one of them: of several the one behind the flag, and of a single one if it
// can't be the item.
func (f *stdinFlag) takeField(args []string, noItem bool) []string {
	if f.field != stdinOfItem || f.at >= len(args) || len(args) == 1 && !noItem {
		return args
	}
	f.field = args[f.at]
	return slices.Delete(slices.Clone(args), f.at, f.at+1)
}

// newRun builds "warder run".
func newRun(env *Env) *cobra.Command {
	var o runFlags
	cmd := &cobra.Command{
		Use:   "run [ITEM | --project P | --env-file F] [flags] -- COMMAND [ARGUMENT…]",
		Short: "Run a program with values, without seeing them",
		Long: `Run a program that gets values of an item, the variables of a project's stage, or
what the references in an env file stand for. The program is started as it is,
without a shell; its streams, signals and exit status are its own. What it
prints is searched for the values, and these are hidden, where an agent or an
unknown process asked, in a terminal multiplexer, and with --mask.

For an item, say how its value gets to the program: --env-var NAME puts it into a
variable, --file NAME into a file in memory that the variable names, --stdin into
the program's standard input. After "=" a field can be named.

What agents may not use unasked takes your password, which serves the runs in the
same terminal for ten minutes, but for an env file that says something new.

An env file holds lines such as TOKEN=warder://personal/github-token/token.

warder's own failures have exit status 125, a program that can't be run 126, one
that is not there 127.`,
		Example: `  warder run github-token --env-var GH_TOKEN -- gh api user
  warder run db --env-var PGUSER=username --env-var PGPASSWORD=password -- psql
  warder run deploy-key --file KEY_FILE -- sh -c 'ssh -i "$KEY_FILE" host'
  warder run --project shop --stage development -- ./server
  warder run --env-file app.env -- ./server`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 || o.project != "" || o.envFile != "" {
				return nil, cobra.ShellCompDirectiveDefault // behind -- are programs and files
			}
			return completeItems(env)(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			if dash < 0 {
				return usageError("nothing says what to run").WithHint("put the program behind --: " + cmd.UseLine())
			}
			return o.run(cmd.Context(), env, args[:dash], args[dash:])
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError("%v", err).WithHint(usedAs(cmd) + "; flags of the program stand behind --")
	})
	f := cmd.Flags()
	f.StringArrayVar(&o.envVars, "env-var", nil, "put the value into this variable, as NAME[=FIELD]; repeatable")
	f.StringArrayVar(&o.maps, "map", nil, "the same, as FIELD=NAME; repeatable")
	f.StringArrayVar(&o.files, "file", nil, "put the value into a file that this variable names, as NAME[=FIELD]; repeatable")
	o.stdin.nargs = f.NArg
	f.Var(&o.stdin, "stdin", "make the value the program's standard input, or that of the named `field`")
	f.Lookup("stdin").NoOptDefVal = stdinOfItem
	f.StringSliceVar(&o.only, "only", nil, "of a project or an env file, these variables alone, as A,B or A B; repeatable")
	stageFlags(env, cmd, &o.project, &o.stage)
	f.StringVar(&o.envFile, "env-file", "", "take the references in this env file")
	f.StringVar(&o.vault, "vault", "", "the vault (default personal)")
	f.BoolVar(&o.mask, "mask", false, "hide the values in what comes back, whoever asks")
	return cmd
}

func (o *runFlags) run(ctx context.Context, env *Env, before, argv []string) error {
	in, err := o.request(before, argv)
	if err != nil {
		return err
	}
	var missing error
	if in.Program, err = lookPath(env, argv[0]); err != nil {
		if there := notExecutable(env, argv[0]); there != "" {
			err = api.Errorf(api.NotFound, "%s can't be run: it is no executable file", there).WithHint("chmod +x it if it is a program, or name another one")
			return failedRun(env, err, exitNotRunnable)
		}
		if !slices.Contains(shellWordsOfDumps(), argv[0]) {
			return failedRun(env, err, exitNotFound)
		}
		// It is no program, and yet what an agent wants with it is refused as such.
		in.Program, missing = filepath.Join(string(filepath.Separator), argv[0]), err
	}
	r := &runOfProgram{env: env, in: in, missing: missing}
	defer r.close()
	if in.File != "" {
		if err := r.readEnvFile(); err != nil {
			return err
		}
	}
	return r.run(ctx)
}

// shellWordsOfDumps are the words by which shells show their variables, and which are no programs.
func shellWordsOfDumps() []string { return []string{"set", "export", "declare", "compgen"} }

// notExecutable is the path of what a name stands for where that is there and is no program.
func notExecutable(env *Env, name string) string {
	paths := []string{name}
	if !strings.ContainsRune(name, filepath.Separator) {
		paths = nil
		for _, dir := range filepath.SplitList(env.Getenv("PATH")) {
			if filepath.IsAbs(dir) {
				paths = append(paths, filepath.Join(dir, name))
			}
		}
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// failedRun says why there is no program, and is the exit status for it.
func failedRun(env *Env, err error, status int) error {
	report(env, asError(err, nil), false)
	return outcome(status)
}

// request makes the request of a command line.
func (o *runFlags) request(before, argv []string) (*api.RunBegin, error) {
	noItem := o.project != "" || o.envFile != ""
	before = o.stdin.takeField(before, noItem)
	if noItem && len(o.only) > 0 { // as in --only A B
		o.only, before = append(o.only, before...), nil
	}
	in := &api.RunBegin{Vault: o.vault, Project: o.project, Stage: o.stage, File: o.envFile, Only: o.only, Argv: argv, Mask: o.mask}
	if len(before) > 0 {
		in.Item, before = before[0], before[1:]
	}
	switch {
	case len(before) > 0:
		return nil, usageError("%q is too much: a run takes its values from one item", before[0])
	case len(argv) == 0:
		return nil, usageError("there is no program behind --")
	}
	return in, o.inject(in)
}

// inject reads how values reach the program.
func (o *runFlags) inject(in *api.RunBegin) error {
	add := func(as string, nameFirst bool, words []string) error {
		for _, word := range words {
			name, field, both := strings.Cut(word, "=")
			if !nameFirst {
				name, field = field, name
			}
			if name == "" || !nameFirst && !both {
				return usageError("%q names no variable", word)
			}
			in.Inject = append(in.Inject, api.RunInject{Var: name, Field: field, As: as})
		}
		return nil
	}
	if err := errors.Join(add(api.ByEnv, true, o.envVars), add(api.ByEnv, false, o.maps), add(api.ByFile, true, o.files)); err != nil {
		return err
	}
	if field := o.stdin.field; field != "" {
		if field == stdinOfItem {
			field = ""
		}
		in.Inject = append(in.Inject, api.RunInject{Field: field, As: api.ByStdin})
	}
	return nil
}

// runOfProgram is one run, from the request to the end of the program.
type runOfProgram struct {
	env     *Env
	in      *api.RunBegin
	missing error            // why there is no such program, where that is said only to who may run one
	plain   []string         // NAME=value of an env file's variables without a reference
	lent    []proc.Injection // of those, what does not get into the environment
	ahead   *proc.Ahead
	permit  api.RunPermit
	values  []secret.Value
	hidden  *mask.Set
}

func (r *runOfProgram) close() {
	_ = r.ahead.Close() // of a program that did not run
	frame.DestroyAll(r.values)
	if r.hidden != nil {
		r.hidden.Destroy()
	}
}

func (r *runOfProgram) run(ctx context.Context) error {
	spec, err := r.spec()
	if err != nil {
		return err
	}
	_, blind := platform.OwnProgramPath()
	if blind == nil && r.missing == nil {
		r.ahead = proc.StartAhead(spec)
	}
	way, err := r.env.reach()
	if err != nil {
		return err
	}
	defer way.close()
	if blind != nil && way.install != nil {
		spec.Self = way.install.Binary // values go to who runs that, which the daemon sees
	}
	if err := tell(ctx, way, api.OpRun, r.in, &r.permit); err != nil {
		return err
	}
	if r.missing != nil {
		r.tell(ctx, way, api.RunEnd{Failed: "not_found"})
		return failedRun(r.env, r.missing, exitNotFound)
	}
	r.ahead.TakeSignals()
	for _, w := range r.permit.Warnings {
		warn(r.env.Err, "%s", w)
	}
	if r.values, err = take(ctx, way, api.RunLease{Lease: r.permit.Lease}, len(r.permit.Values)); err != nil {
		return r.failed(ctx, way, err)
	}
	return r.execute(ctx, way, spec)
}

// keepConnection is how long a run keeps its connection. One that ends sooner tells of it there; one that lasts, which may be for
// days, connects once more.
const keepConnection = 2 * time.Second

// execute runs the program and tells the daemon how it ended.
func (r *runOfProgram) execute(ctx context.Context, way *reach, spec proc.Spec) error {
	if err := r.inject(&spec); err != nil {
		return r.failed(ctx, way, err)
	}
	conn := way.conn
	kept := time.AfterFunc(keepConnection, func() { _ = conn.Close() })
	ended, err := proc.Run(spec)
	if !kept.Stop() {
		way.close()
	}
	var output *proc.OutputError
	if err != nil && !errors.As(err, &output) {
		return r.failed(ctx, way, err)
	}
	r.tell(ctx, way, api.RunEnd{Code: ended.Code, Signal: ended.Signal})
	if err != nil {
		return api.Errorf(api.Internal, "%v", output).WithCause(output).WithHint("it ran; see to where its output goes before you run it again")
	}
	if status := ended.Status(); status != 0 {
		return outcome(status)
	}
	return nil
}

// tell tells the daemon how the run ended. The program has ended, so a daemon that is gone changes nothing any more.
func (r *runOfProgram) tell(ctx context.Context, way *reach, end api.RunEnd) {
	end.Lease = r.permit.Lease
	way.mayStart, way.mayAsk = false, false
	_ = tell(ctx, way, api.OpRunEnd, end, nil)
}

// failed ends a run that had no program.
func (r *runOfProgram) failed(ctx context.Context, way *reach, err error) error {
	var large *proc.TooLargeError
	var much *proc.TooMuchError
	var place *proc.PlaceError
	status, word := 0, "internal"
	switch {
	case errors.As(err, &large):
		e := api.Errorf(api.TooLarge, "%v", large)
		if word = "too_large"; large.File {
			e = e.WithHint(fmt.Sprintf("give it as a file: --file %s", large.Name))
		}
		err = e
	case errors.As(err, &place):
		err = api.Errorf(api.Internal, "%v", place).WithHint("give it in a variable (--env-var), or set XDG_RUNTIME_DIR to a directory of your own on a tmpfs, with mode 0700")
	case errors.As(err, &much):
		word = "too_large"
		err = api.Errorf(api.TooLarge, "%v", much).WithHint("give large values as files: --file NAME; or start it with fewer variables")
	default:
		if status, err = notStarted(err); status != 0 {
			word = "not_runnable"
		}
	}
	r.tell(ctx, way, api.RunEnd{Failed: word})
	if status != 0 {
		return failedRun(r.env, err, status)
	}
	return err
}

// notStarted is the exit status for a program that the system does not run, and what to say of it; 0 and err for anything else.
func notStarted(err error) (status int, told error) {
	var start *proc.StartError
	if !errors.As(err, &start) {
		return 0, err
	}
	return exitNotRunnable, api.Errorf(api.Internal, "%v", start).WithHint("see whether it is a program for this system, and has a #! line if it is a script")
}

// spec is what is started, as far as it is known before it is decided.
func (r *runOfProgram) spec() (proc.Spec, error) {
	spec := proc.Spec{Path: pathAsWritten(r.in.Argv[0], r.in.Program), Argv: r.in.Argv, Env: withoutNames(r.env.Environ(), r.plain)}
	spec.Env = append(spec.Env, r.plain...)
	spec.Inject = append(spec.Inject, r.lent...)
	spec.Places = privatePlaces(r.env)
	var err error
	spec.Streams, err = streamsOf(r.env)
	return spec, err
}

// streamsOf are the standard streams, for a program.
func streamsOf(env *Env) (streams [3]*os.File, err error) {
	for i, w := range []any{env.In, env.rawOut, env.Err} {
		f, ok := w.(*os.File)
		if !ok {
			return streams, errors.New("a program needs files as its streams")
		}
		streams[i] = f
	}
	return streams, nil
}

// pathAsWritten is the path that is executed, which a script is told: as it was written, where that leads to the very file that was found. It
// does not where a ".." stands behind a link.
func pathAsWritten(name, found string) string {
	parts := strings.Split(name, string(filepath.Separator))
	if len(parts) > 1 && !slices.Contains(parts, "..") {
		return name
	}
	return found
}

// privatePlaces are where a program's files may be that can't be in memory alone: the session's own directory, else what all share.
func privatePlaces(env *Env) []string {
	places := []string{fmt.Sprintf("/run/user/%d", os.Getuid()), "/dev/shm"}
	if dir := env.Getenv("XDG_RUNTIME_DIR"); dir != "" && dir != places[0] {
		places = slices.Insert(places, 0, dir)
	}
	return places
}

// inject puts in what was decided: the values, and whether they are hidden.
func (r *runOfProgram) inject(spec *proc.Spec) error {
	spec.Ahead = r.ahead
	r.hidden = mask.NewSet()
	for i, v := range r.permit.Values {
		value := r.values[i]
		if v.As == api.ToHide {
			continue
		}
		spec.Inject = append(spec.Inject, proc.Injection{
			Delivery: deliveryOf(v.As), Name: v.Var, Size: value.Len(), Write: func(w io.Writer) error {
				defer value.Destroy() // the program has it from here on (S2-22)
				return writeValue(w, value)
			},
		})
		if err := errors.Join(canBe(v, value), r.hide(v, value)); err != nil {
			return err
		}
	}
	if r.permit.Mask {
		spec.Mask = func(dst io.Writer) io.WriteCloser { return mask.NewWriter(dst, r.hidden) }
	}
	return nil
}

// deliveryOf is how a value gets to the program.
func deliveryOf(as string) proc.Delivery {
	switch as {
	case api.ByFile:
		return proc.ByFile
	case api.ByStdin:
		return proc.ByStdin
	}
	return proc.ByEnv
}

// canBe refuses what no variable can hold.
func canBe(v api.RunValue, value secret.Value) error {
	zero := false
	err := value.Use(func(b []byte) { zero = v.As == api.ByEnv && slices.Contains(b, 0) })
	if err == nil && zero {
		return usageError("the value of %s has a zero byte, which no variable can hold", v.Var).WithHint("give it as a file: --file " + v.Var)
	}
	return err
}

func (r *runOfProgram) hide(v api.RunValue, value secret.Value) error {
	if !r.permit.Mask || !v.Secret {
		return nil
	}
	name := v.Var
	if name == "" {
		name = r.in.Item
	}
	var o mask.ValueOptions
	if v.User > 0 && v.User <= len(r.values) {
		o.User = r.values[v.User-1]
	}
	err := r.hidden.Add(name, value, o)
	if errors.Is(err, mask.ErrShort) {
		return nil // the daemon has warned of it
	}
	return err
}

// writeValue writes a value from where it lies.
func writeValue(w io.Writer, v secret.Value) error {
	var wrote error
	if err := v.Use(func(b []byte) { _, wrote = w.Write(b) }); err != nil {
		return err
	}
	return wrote
}

// withoutNames is an environment without the variables that others set.
func withoutNames(environ, set []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	})
}
