package vault

import (
	"maps"
	"time"

	"warder/internal/seal"
)

// seen is what this device remembers of the account (F1.7): without it a rolled-back store looks like any other.
type seen struct {
	keyset mark
	vaults map[seal.ID]map[seal.ID]mark // vault → device → last accepted root
	next   *pendingWrite
	gone   *staleFiles
	since  map[string]time.Time // when a pending finding was first met, by its key
	extra  []rawMember
}

// pendingWrite is a write under way: the root it will put in force, the files it adds and those it will put out of use, as paths below
// the vault.
type pendingWrite struct {
	vault seal.ID
	mark  mark
	files []string
	gone  []string
}

// staleFiles are the files that the last write put out of use.
type staleFiles struct {
	vault seal.ID
	files []string
}

func newSeen() seen {
	return seen{vaults: map[seal.ID]map[seal.ID]mark{}, since: map[string]time.Time{}}
}

// clone is a memory that can be changed without changing s.
func (s *seen) clone() seen {
	c := *s
	c.vaults, c.since = make(map[seal.ID]map[seal.ID]mark, len(s.vaults)), maps.Clone(s.since)
	for id, roots := range s.vaults {
		c.vaults[id] = maps.Clone(roots)
	}
	return c
}

func (s *seen) root(vault, device seal.ID) (mark, bool) {
	m, ok := s.vaults[vault][device]
	return m, ok
}

func (s *seen) setRoot(vault, device seal.ID, m mark) {
	if s.vaults[vault] == nil {
		s.vaults[vault] = map[seal.ID]mark{}
	}
	s.vaults[vault][device] = m
}

func (s *seen) put(e *encoder) {
	next, gone := member{}, member{}
	if p := s.next; p != nil {
		next = member{"next", func(e *encoder) {
			e.object(nil, listMember("files", p.files, putText[string]), listMember("gone", p.gone, putText[string]), hashMember("hash", p.mark.hash),
				numMember("seq", int64(p.mark.seq)), idMember("vault", p.vault)) // #nosec G115 -- far below 2^53
		}}
	}
	if g := s.gone; g != nil {
		gone = member{"gone", func(e *encoder) {
			e.object(nil, listMember("files", g.files, putText[string]), idMember("vault", g.vault))
		}}
	}
	vaults := make(map[string]map[string]mark, len(s.vaults))
	for v, roots := range s.vaults {
		m := make(map[string]mark, len(roots))
		for d, r := range roots {
			m[d.String()] = r
		}
		vaults[v.String()] = m
	}
	e.object(s.extra,
		gone,
		member{"keyset", func(e *encoder) { e.mark("hash", "epoch", s.keyset) }},
		next,
		mapMember("since", s.since, func(e *encoder, t time.Time) { e.num(t.UnixMilli()) }),
		mapMember("vaults", vaults, func(e *encoder, roots map[string]mark) {
			e.object(nil, mapMembers(roots, func(e *encoder, m mark) { e.mark("hash", "seq", m) })...)
		}),
	)
}

func decodeSeen(plain []byte) (seen, error) {
	s := newSeen()
	err := decode(plain, func(d *decoder) {
		d.object(func(key string) {
			switch key {
			case "gone":
				s.gone = readStaleFiles(d)
			case "keyset":
				s.keyset = readMark(d, "hash", "epoch")
			case "next":
				s.next = readPendingWrite(d)
			case "since":
				d.object(func(k string) { s.since[k] = readTime(d) })
			case "vaults":
				d.object(func(v string) {
					vault := parseIDIn(d, v)
					d.object(func(dev string) { s.setRoot(vault, parseIDIn(d, dev), readMark(d, "hash", "seq")) })
				})
			default:
				d.unknown(&s.extra, key)
			}
		})
	})
	return s, err
}

func readPendingWrite(d *decoder) *pendingWrite {
	p := &pendingWrite{}
	d.object(func(key string) {
		switch key {
		case "files":
			p.files = d.strs()
		case "gone":
			p.gone = d.strs()
		case "hash":
			p.mark.hash = readHash(d)
		case "seq":
			p.mark.seq = d.count()
		case "vault":
			p.vault = readID(d)
		default:
			d.skip()
		}
	})
	return p
}

func readStaleFiles(d *decoder) *staleFiles {
	g := &staleFiles{}
	d.object(func(key string) {
		switch key {
		case "files":
			g.files = d.strs()
		case "vault":
			g.vault = readID(d)
		default:
			d.skip()
		}
	})
	return g
}
