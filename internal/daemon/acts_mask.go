package daemon

import (
	"context"
	"errors"
	"io"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/caller"
	"warder/internal/mask"
	"warder/internal/policy"
)

// planMask hides what the account holds in texts that the caller sends, and gets back without the values.
func planMask(r *request) (*act, error) {
	var in api.MaskBegin
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	items := make([]found, 0, len(in.Items))
	for _, name := range in.Items {
		item, err := findItem(&r.lookup, "", name)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return &act{
		needs: []policy.Need{policy.ToMask}, text: "hide stored values in an output",
		talk: func(ctx context.Context, d api.Dialogue) (*api.Reply, error) {
			return (&masking{r: r}).run(ctx, d, items)
		},
	}, nil
}

// masking is one act of hiding values in texts.
type masking struct {
	r     *request
	set   *needleSet
	tally mask.Tally
	texts [frame.MaxTexts]*maskedText

	whole bool // nothing is handed on before the end of its text
	told  bool // that something was hidden which its maker was not lent
}

// run serves the dialogue.
func (m *masking) run(ctx context.Context, d api.Dialogue, items []found) (*api.Reply, error) {
	if err := m.begin(items); err != nil {
		return nil, err
	}
	defer m.end()
	if err := d.Begin(api.MaskBegun{Whole: m.whole}); err != nil {
		return nil, err
	}
	for {
		p, err := d.Next()
		if errors.Is(err, io.EOF) {
			hidden, _ := m.tally.Hidden()
			return &api.Reply{Output: api.Masked{Hidden: hidden}}, nil
		}
		if err != nil && ctx.Err() == nil {
			m.r.Facts["broken_off"] = true // the reader of a pipe has gone, or the program was killed
			return nil, nil
		}
		if err != nil {
			return nil, context.Cause(ctx)
		}
		answer, err := m.take(p)
		if err != nil {
			return nil, m.failed(ctx, err)
		}
		if err := d.Answer(answer); err != nil {
			return nil, err
		}
	}
}

// begin gets the set. What is hidden from an agent without having been lent to it is an answer to a guess, so there are few.
func (m *masking) begin(items []found) error {
	r := m.r
	if !r.isPerson() {
		m.whole, m.tally.Most = true, mostGuesses
		if until, stopped := r.acts.guesses.stopped(principalKey(r.who), r.acts.now()); stopped {
			return errGuessing(until)
		}
	}
	var err error
	if len(items) > 0 {
		m.set, err = r.acts.needles.of(&r.lookup, items)
	} else {
		m.set, err = r.acts.needles.take(&r.lookup)
	}
	if err != nil {
		return err
	}
	seen := r.acts.needles.seen.of(principalKey(r.who))
	m.tally.Known = func(value int) bool {
		is := m.set.needle(value)
		return is.lent || seen[is.storedField]
	}
	return nil
}

// end gives everything back, and notes for the log what was done. It holds no name.
func (m *masking) end() {
	for _, t := range m.texts {
		if t != nil {
			t.discard()
		}
	}
	m.r.acts.needles.give(m.set)
	m.r.Facts["hidden"], m.r.Facts["not_lent"] = len(m.tally.Values()), len(m.notLent())
}

// take takes a piece, and answers with what of its text may be shown by now.
func (m *masking) take(p frame.Piece) (frame.Piece, error) {
	t := m.texts[p.Text]
	if t == nil {
		t = &maskedText{total: &m.r.acts.withheld, whole: m.whole}
		t.to = mask.NewCountedWriter(t, m.set.Set, &m.tally)
		m.texts[p.Text] = t
	}
	if err := m.r.acts.needles.follow(&m.r.lookup, m.set); err != nil {
		return frame.Piece{}, err
	}
	if err := t.put(p); err != nil {
		return frame.Piece{}, err
	}
	if err := m.tellGuess(t); err != nil {
		return frame.Piece{}, err
	}
	answer := frame.Piece{Text: p.Text}
	answer.Bytes, answer.More = t.get(frame.MaxAnswer)
	return answer, nil
}

// notLent are the values that were hidden and not lent.
func (m *masking) notLent() (list []storedField) {
	for _, value := range m.tally.Values() {
		if is := m.set.needle(value); !is.lent {
			list = append(list, is.storedField)
		}
	}
	return list
}

// tellGuess notes, before any of a text is handed on, that it held what its maker was not lent. The same again is no news to it.
func (m *masking) tellGuess(t *maskedText) error {
	_, unknown := m.tally.Hidden()
	if !m.whole || !t.ended || m.told || unknown == 0 {
		return nil
	}
	m.told = true
	m.r.acts.needles.seen.note(principalKey(m.r.who), m.notLent())
	until, tooMany := m.r.acts.guesses.hit(principalKey(m.r.who), m.r.acts.now())
	if !tooMany {
		return nil
	}
	m.probe(map[string]any{"hits": guessHits})
	return errGuessing(until)
}

// failed is an error of masking as the caller is told it.
func (m *masking) failed(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, mask.ErrTooMany):
		m.probe(map[string]any{"values": mostGuesses + 1})
		return api.Errorf(api.Denied, "the output holds more than %d stored values that were not lent to you: no more of it is shown", mostGuesses).
			WithHint("print less at once; the owner of the account is told")
	case errors.Is(err, mask.ErrNoSet):
		return api.Errorf(api.Locked, "the account was locked: no more of the output is shown")
	}
	return errors.Join(err, context.Cause(ctx))
}

// eventProbe tells that somebody may be using the masker to find out what is stored.
const eventProbe = "mask.probe"

// probe records that an agent printed more stored values than any output has, and has status tell it.
func (m *masking) probe(data map[string]any) {
	rec := m.r.Event(eventProbe)
	rec.Data = dataOf(data)
	m.r.acts.log.Note(context.Background(), rec)
	if warn := m.r.acts.warn; warn != nil {
		warn("%s printed stored values that it was not lent, as if it were guessing them: see warder audit show %s", describe(m.r.who), m.r.ID)
	}
}

// describe names a principal in a sentence.
func describe(who caller.Identity) string {
	switch {
	case who.Client != "":
		return "an agent (" + printable(who.Client) + ")"
	case who.Verdict == caller.Agent:
		return "an agent"
	}
	return "an unknown program"
}

// errGuessing refuses who has guessed too often.
func errGuessing(until time.Time) error {
	return api.Errorf(api.Denied, "%d outputs within a minute held stored values that were not lent to you, new ones each time: nothing is shown", guessHits).
		WithHint("try again after " + until.UTC().Format(time.TimeOnly) + " UTC; the owner of the account is told")
}
