package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/platform"
	"warder/internal/secret"
)

// stdinName stands for standard input in the place of a file.
const stdinName = "-"

// importing are the flags of "warder import".
type importing struct {
	project, stage, level string
	dryRun, yes, asJSON   bool
}

// newImport builds "warder import".
func newImport(env *Env) *cobra.Command {
	var o importing
	cmd := &cobra.Command{
		Use:   "import FILE --project P --stage S",
		Short: "Take the variables of an env file into a project",
		Long: `Take the variables of an env file (or of standard input, as "-") into a stage of a
project. What would change is shown first; nothing is stored before you say yes
on the terminal, or without one, with --yes. The file stays as it is.

An agent's import is stored as a whole or not at all: it adds variables and changes
those that it set itself. A dry run ends as the import would, and names each
variable that stands in the way with its line.`,
		Example: `  warder import .env --project shop --stage development
  warder import .env.production --project shop --stage production --level ask --yes
  warder import .env --project shop --stage test --dry-run --json`,
		Args:              oneArgument("FILE", "the name of an env file"),
		ValidArgsFunction: files,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args[0])
		},
	}
	f := cmd.Flags()
	stageFlags(env, cmd, &o.project, &o.stage)
	f.StringVar(&o.level, "level", "", "what agents may do with a stage that is new: none, ask, use or read")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would change and change nothing")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	jsonFlag(cmd, &o.asJSON)
	completeWords(cmd, "level", levels())
	return cmd
}

func (o *importing) run(ctx context.Context, env *Env, file string) error {
	switch {
	case o.project == "" || o.stage == "":
		return usageError("--project and --stage say where the variables go")
	case o.dryRun && o.yes:
		return usageError("--dry-run and --yes contradict each other")
	}
	if err := checkLevel(o.level); err != nil {
		return err
	}
	text, err := readFile(env, file)
	if err != nil {
		return err
	}
	defer frame.DestroyAll(text)
	r, err := env.reach()
	if err != nil {
		return err
	}
	defer r.close()
	in := api.Import{File: file, Project: o.project, Stage: o.stage, Level: o.level, DryRun: true}
	if !o.yes {
		goOn, err := o.preview(ctx, r, in, text)
		if err != nil || !goOn {
			return err
		}
	}
	in.DryRun = false
	return o.store(ctx, r, in, text)
}

// whole puts an empty list in the place of one that is missing.
func whole(i *api.Imported) {
	for _, list := range []*[]string{&i.Names.Added, &i.Names.Changed, &i.Names.Refused} {
		if *list == nil {
			*list = []string{}
		}
	}
	if i.Warnings == nil {
		i.Warnings = []api.ImportWarning{}
	}
}

// store imports and says what came of it.
func (o *importing) store(ctx context.Context, r *reach, in api.Import, text []secret.Value) error {
	done := api.Imported{Warnings: []api.ImportWarning{}}
	got, err := r.call(ctx, api.OpImport, &in, &done, text...)
	frame.DestroyAll(got)
	if err != nil {
		return err
	}
	whole(&done)
	if o.asJSON {
		return printJSON(r.env.Out, done)
	}
	if o.yes {
		printWarnings(r.env, in.File, done.Warnings)
	}
	fmt.Fprintf(r.env.Out, "%s/%s: %d added, %d changed, %d unchanged\n",
		printable(in.Project), printable(in.Stage), done.Added, done.Changed, done.Unchanged)
	if done.Undo != "" {
		fmt.Fprintf(r.env.Out, "undo: warder item undo %s\n", printable(done.Undo))
	}
	if text := closedText(done.Level); text != "" && done.Added+done.Changed > 0 {
		fmt.Fprintf(r.env.Out, "level %s: %s; to let programs have it: warder project stage %s --level use\n",
			printable(done.Level), text, shellWords(in.Project, in.Stage))
	}
	if done.Added+done.Changed+done.Unchanged == 0 || !staysBehind(in.File) {
		return nil
	}
	_, err = fmt.Fprintf(r.env.Err, "%s still holds the values: remove it when everything works without.\n", printable(in.File))
	return err
}

// closedText says what a level keeps from running unasked; "" where it keeps nothing.
func closedText(level string) string {
	switch level {
	case "unset", "none":
		return "no agent sees it, and a run with it asks for your password"
	case "ask":
		return "a run with it asks for your password"
	}
	return ""
}

// staysBehind reports whether what was imported is a file that somebody can
// remove, and not standard input, a pipe or an open file of the shell's.
func staysBehind(file string) bool {
	if file == stdinName || strings.HasPrefix(file, "/dev/") || strings.HasPrefix(file, "/proc/") {
		return false
	}
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// preview shows what an import would do and asks. It returns false where there
// is nothing more to do.
func (o *importing) preview(ctx context.Context, r *reach, in api.Import, text []secret.Value) (goOn bool, err error) {
	would := api.Imported{Warnings: []api.ImportWarning{}}
	got, err := r.call(ctx, api.OpImport, &in, &would, text...)
	frame.DestroyAll(got)
	if err != nil {
		return false, err
	}
	whole(&would)
	c, noConsole := r.env.person("say yes to an import")
	if noConsole == nil {
		defer c.close()
	}
	failed := would.Error // as the import itself would end
	if failed == nil && !o.dryRun && noConsole != nil {
		failed = usageError("nothing was stored: there is no person at a terminal to ask").
			WithHint("look at what would change, then run it with --yes")
	}
	switch {
	case !o.asJSON:
		err = o.show(r.env, in.File, &would)
	case o.dryRun || failed != nil:
		would.Error = failed // a program must not take what was refused for a dry run that it asked for
		err = printJSON(r.env.Out, would)
	}
	switch {
	case err != nil:
		return false, err
	case failed != nil && o.asJSON:
		report(r.env, failed, false) // stdout has its one object, with the error in it
		return false, outcome(api.RowOf(failed.Code).Exit)
	case failed != nil:
		return false, failed
	case o.dryRun:
		return false, nil
	case would.Added+would.Changed == 0:
		return false, nil
	}
	yes, err := c.confirm(fmt.Sprintf("Store %d new and %d changed in %s/%s?", would.Added, would.Changed, in.Project, in.Stage), false)
	if err != nil || yes {
		return yes, err
	}
	_, err = fmt.Fprintln(r.env.Err, "nothing was stored")
	return false, err
}

// show prints what an import would do.
func (o *importing) show(env *Env, file string, would *api.Imported) error {
	printWarnings(env, file, would.Warnings)
	rows := columns{}
	for _, name := range would.Names.Added {
		rows.add("add", name)
	}
	for _, name := range would.Names.Changed {
		rows.add("change", name)
	}
	for _, name := range would.Names.Refused {
		rows.add("refuse", name)
	}
	if err := rows.print(env.Out); err != nil {
		return err
	}
	but := ""
	if would.Error != nil {
		but = "nothing would be stored; without what is refused it "
	}
	_, err := fmt.Fprintf(env.Out, "%swould add %d, change %d, leave %d unchanged\n", but, would.Added, would.Changed, would.Unchanged)
	return err
}

func printWarnings(env *Env, file string, warnings []api.ImportWarning) {
	for _, w := range warnings {
		place := file
		if w.Line > 0 {
			place = fmt.Sprintf("%s:%d", file, w.Line)
		}
		warn(env.Err, "%s: %s", place, w.Text)
	}
}

// maxFile is the most bytes of a file to import: as many values as a call takes
// beside a proof of presence.
const maxFile = (frame.MaxValues - 1) * frame.MaxValue

// readFile reads a file, or standard input for "-", straight into values, in
// the parts in which it crosses.
func readFile(env *Env, name string) (parts []secret.Value, err error) {
	from, pipe := env.In, false
	if name != stdinName {
		f, isPipe, err := openFile(name)
		if err != nil {
			return nil, openFault(name, err)
		}
		defer f.Close()
		from, pipe = f, isPipe
	}
	text, err := secret.Read(from, maxFile)
	switch {
	case errors.Is(err, secret.ErrTooLarge):
		return nil, api.Errorf(api.TooLarge, "%s has more than %d bytes, the limit of an import", name, maxFile).
			WithHint("import it in parts: split the file at any line between two variables")
	case err != nil:
		return nil, openFault(name, err)
	}
	defer text.Destroy()
	if pipe && text.Len() == 0 {
		return nil, usageError("nothing came from the pipe %s: nobody writes to it", name).WithHint("start what writes to it first, or give the path of an env file")
	}
	for at := 0; at == 0 || at < text.Len(); at += frame.MaxValue {
		p, err := part(text, at, min(at+frame.MaxValue, text.Len()))
		if err != nil {
			frame.DestroyAll(parts)
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// openFile opens a file, through links, or a pipe that somebody writes to, as the shell's <(…) makes one. It waits for nothing and
// touches no device: reading one may never end, or do something. A pipe without a writer reads as empty, and is refused for that.
func openFile(name string) (f *os.File, pipe bool, err error) {
	info, err := os.Stat(name)
	if err == nil {
		err = wantFile(name, info)
	}
	if err != nil {
		return nil, false, err
	}
	if f, err = os.OpenFile(name, os.O_RDONLY|platform.NonBlock, 0); err != nil {
		return nil, false, err
	}
	info, err = f.Stat() // of what was opened: the name may have come to mean another
	if err == nil {
		err = wantFile(name, info)
	}
	if err != nil {
		f.Close()
		return nil, false, err
	}
	return f, info.Mode()&fs.ModeNamedPipe != 0, nil
}

// wantFile refuses what is neither a file nor a pipe.
func wantFile(name string, info fs.FileInfo) error {
	kind := "neither a file nor a pipe"
	switch mode := info.Mode(); {
	case mode.IsRegular(), mode&fs.ModeNamedPipe != 0:
		return nil
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return usageError("%s is %s", name, kind).WithHint("give the path of an env file, or - for standard input")
}

// openFault tells why a file that the user named can't be read.
func openFault(name string, err error) error {
	var told *api.Error
	switch {
	case errors.As(err, &told):
		return told
	case errors.Is(err, fs.ErrNotExist):
		return api.Errorf(api.NotFound, "there is no file %s", name).WithHint("give the path of an env file")
	case errors.Is(err, fs.ErrPermission):
		return usageError("%s can't be read: %v", name, fs.ErrPermission).WithHint("see who may read it: ls -l")
	}
	return usageError("%v", err).WithHint("give the path of an env file")
}
