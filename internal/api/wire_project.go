package api

// ProjectList lists the projects that the caller may see.
type ProjectList struct {
	Projects []ProjectRow `json:"projects"`
}

// ProjectRow is a project in a list.
type ProjectRow struct {
	Name   string   `json:"name"`
	Vault  string   `json:"vault"`
	Level  string   `json:"level"`
	Stages []string `json:"stages"`
	Tags   []string `json:"tags"` // "by-agent" if an agent made it
	Maker
}

// Maker says whose hand was last on something.
type Maker struct {
	By     string `json:"by"`     // "person", "agent" or "import"; empty if the revision that would tell is not kept any more
	Client string `json:"client"` // of an agent, if it is known
}

// ProjectShowIn asks for a project, or one stage of it.
type ProjectShowIn struct {
	Project string `json:"project"`
	Stage   string `json:"stage,omitempty"`
}

// ProjectShown is a project without values.
type ProjectShown struct {
	ProjectRow
	Links  []string     `json:"links"` // names of items
	Detail []StageShown `json:"detail"`
}

// StageShown is a stage without values.
type StageShown struct {
	Name      string          `json:"name"`
	Level     string          `json:"level"`
	Tags      []string        `json:"tags"` // "by-agent" if an agent made it
	Variables []StageVariable `json:"variables"`
	Maker
}

// StageVariable is a variable without its value.
type StageVariable struct {
	Name      string `json:"name"`
	Concealed bool   `json:"concealed"`
	Set       bool   `json:"set"`
	Level     string `json:"level"`
	Ref       string `json:"ref"` // the reference that it stands for; empty if it has a value of its own
	Maker            // who set it
}

// StageIn makes a stage, or changes the level of one. Without a stage it means the project.
type StageIn struct {
	Act
	Project string `json:"project"`
	Stage   string `json:"stage,omitempty"`
	Level   string `json:"level,omitempty"`
}

// VariableIn is a variable to set. One without a reference brings a value.
type VariableIn struct {
	Name      string `json:"name"`
	Concealed bool   `json:"concealed"`
	Ref       string `json:"ref,omitempty"`
}

// StageSet sets variables of a stage.
type StageSet struct {
	Act
	Project string       `json:"project"`
	Stage   string       `json:"stage"`
	Level   string       `json:"level,omitempty"` // of a stage that is new
	Set     []VariableIn `json:"set"`
}

// StageUnset removes variables of a stage.
type StageUnset struct {
	Act
	Project string   `json:"project"`
	Stage   string   `json:"stage"`
	Names   []string `json:"names"`
}

// StageChanged counts what a change did.
type StageChanged struct {
	Added     []string `json:"added"`
	Changed   []string `json:"changed"`
	Unchanged []string `json:"unchanged"`
	Removed   []string `json:"removed"`
	Undo      string   `json:"undo"` // empty where nothing was changed
	Warnings  []string `json:"warnings"`
}

// ProjectLink links an item to a project, or takes the link away.
type ProjectLink struct {
	Act
	Project string `json:"project"`
	Item    string `json:"item"`
	Remove  bool   `json:"remove,omitempty"`
}

// Import stores the variables of an env file, whose text is the call's values, one after the other.
type Import struct {
	Act
	File    string `json:"file"` // its name, for messages
	Project string `json:"project"`
	Stage   string `json:"stage"`
	Level   string `json:"level,omitempty"`
	DryRun  bool   `json:"dry_run,omitempty"`
}

// Imported counts what an import did, or would do.
type Imported struct {
	Added     int             `json:"added"`
	Changed   int             `json:"changed"`
	Unchanged int             `json:"unchanged"`
	Warnings  []ImportWarning `json:"warnings"`
	Undo      string          `json:"undo"`  // empty where nothing was stored
	Level     string          `json:"level"` // of the stage, as it and its project say together
	Names     ImportNames     `json:"names"`
	Error     *Error          `json:"error,omitempty"` // of what stored nothing: with what the import is or would be refused
}

// ImportNames are the variables behind the counts.
type ImportNames struct {
	Added   []string `json:"added"`
	Changed []string `json:"changed"`
	Refused []string `json:"refused,omitempty"` // those for which an agent's import is refused as a whole; of a dry run
}

// ImportWarning is something in the file that a person should know.
type ImportWarning struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Export asks for values in a form that other programs read: all items, or the variables of a stage.
type Export struct {
	Act
	Format  string `json:"format"` // "env" or "json"
	Project string `json:"project,omitempty"`
	Stage   string `json:"stage,omitempty"`
}

// Exported counts what the text holds, which is the reply's values, one after the other.
type Exported struct {
	Items     int `json:"items"`
	Variables int `json:"variables"`
}
