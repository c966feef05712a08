package mask

import "bytes"

// scanBehind finds the occurrences in buf that escape sequences interrupt, and the first place where one may still begin;
// state is where in a sequence buf begins. It looks at what is close to a sequence alone: all else was found without.
func (v *view) scanBehind(buf []byte, state sequence, s *search) (keep int, err error) {
	keep = len(buf)
	reach := max(v.longest, (maxReturns+2)*v.longestFolding)
	for at := 0; at < len(buf) && s.left >= 0; {
		first := at // the first sequence
		if at > 0 || state == ground {
			n := bytes.IndexByte(buf[at:], escape)
			if n < 0 {
				return keep, nil
			}
			first += n
		}
		p := &v.plain
		p.begin(lens{sequences: true}, ground)
		if first == 0 {
			p.state = state
		}
		begin := max(0, first-reach)
		end := v.seeThrough(buf, begin, first, reach)
		s.left -= (end - begin) / 2
		open, err := v.scanText(end == len(buf), s)
		if err != nil {
			return keep, err
		}
		keep = min(keep, open)
		at = end
	}
	return keep, nil
}

// seeThrough takes the output from begin on, with the sequence at first and all that follow close to one another, and says
// how far that is.
func (v *view) seeThrough(buf []byte, begin, first, reach int) int {
	p := &v.plain
	if begin < first {
		p.show(buf[begin:first], begin)
	}
	for i := first; ; {
		start := i
		i, p.state = p.state.skip(buf, i)
		p.gap += i - start
		p.end = i
		n := bytes.IndexByte(buf[i:min(len(buf), i+2*reach)], escape)
		if n < 0 {
			n = min(len(buf), i+reach) - i
			if n > 0 {
				p.show(buf[i:i+n], i)
			}
			return i + n
		}
		if n > 0 {
			p.show(buf[i:i+n], i)
		}
		i += n
	}
}

// scanText searches the text that was seen through, and says where in the output an occurrence may begin if that text is
// all that there is so far.
func (v *view) scanText(last bool, s *search) (keep int, err error) {
	p := &v.plain
	defer p.wipe()
	in := search{left: s.left, found: s.behind[:0]}
	if err := v.scanAll(p.text, &in); err != nil {
		return 0, err
	}
	for _, found := range in.found {
		if o, ok := p.out(found); ok {
			s.found = append(s.found, o)
		}
	}
	s.behind = in.found
	keep = p.end
	if last {
		cut := p.lastCut()
		text := p.text[cut:]
		i, err := v.openAll(text, &in)
		if err != nil {
			return 0, err
		}
		if i < len(text) {
			keep = p.place(cut + i)
		}
	}
	s.left = in.left
	return keep, nil
}
