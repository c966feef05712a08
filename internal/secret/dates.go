package secret

const (
	firstYear, lastYear = 1000, 2099 // of births, foundings, battles and expiry dates

	// thisYear stands still: a score is stored, and must not change with the clock.
	thisYear = 2026
	// nearYears are tried in any order; the others from the nearest to the farthest.
	nearYears = 30
)

// yearCost is the effort of one year.
func yearCost(y int) effort {
	return choice(max(nearYears, y-thisYear, thisYear-y))
}

// dates finds years and dates that begin at i.
func (e *estimate) dates(i int) {
	if y, ok := e.number(i, 4); ok && firstYear <= y && y <= lastYear {
		e.reach(i, i+4, join+yearCost(y))
	}
	for _, w := range [...][3]int{{2, 2, 4}, {4, 2, 2}, {2, 2, 2}} {
		e.date(i, w, 0)
	}
	for _, w := range [...][3]int{
		{2, 2, 4}, {2, 1, 4}, {1, 2, 4}, {1, 1, 4}, {4, 2, 2}, {4, 2, 1}, {4, 1, 2}, {4, 1, 1}, {2, 2, 2}, {2, 1, 2}, {1, 2, 2}, {1, 1, 2},
	} {
		e.date(i, w, 1)
	}
}

// date looks for three numbers of these widths, with the same sign of gap characters (0 or 1) between them, that make
// a day in some order.
func (e *estimate) date(i int, width [3]int, gap int) {
	second := i + width[0] + gap
	third := second + width[1] + gap
	a, okA := e.number(i, width[0])
	b, okB := e.number(second, width[1])
	c, okC := e.number(third, width[2])
	if !okA || !okB || !okC {
		return
	}
	cost := join + dateCost(a, b, c)
	if gap > 0 {
		sign := e.glyphs[second-1].fold
		if sign != e.glyphs[third-1].fold {
			return
		}
		cost += signCost(sign)
	}
	if cost < unreached {
		e.reach(i, third+width[2], cost)
	}
}

// signCost is the effort of what stands between the numbers of a date.
func signCost(sign rune) effort {
	switch sign {
	case '-', '.', '/':
		return choice(3)
	case '_', ' ':
		return choice(8)
	}
	return unreached
}

// dateCost is the effort of three numbers that read as day, month and year, as month, day and year, or as year, month
// and day: the cheapest of these readings, unreached if there is none.
func dateCost(a, b, c int) effort {
	return min(dayCost(b, a)+longYearCost(c), dayCost(a, b)+longYearCost(c), dayCost(b, c)+longYearCost(a))
}

// longYearCost is the effort of a year that may be written with two digits.
func longYearCost(y int) effort {
	switch {
	case 0 <= y && y < 50:
		return yearCost(2000 + y)
	case y < 100:
		return yearCost(1900 + y)
	case y < firstYear || lastYear < y:
		return unreached
	}
	return yearCost(y)
}

// dayCost is the effort of a day of the year. Those that everybody knows are tried first.
func dayCost(month, day int) effort {
	if month < 1 || 12 < month || day < 1 || 31 < day {
		return unreached
	}
	switch 100*month + day {
	case 101, 214, 314, 401, 504, 505, 704, 714, 911, 1031, 1105, 1111, 1224, 1225, 1226, 1231:
		return bit + choice(16)
	}
	return choice(366)
}

// number reads width digits.
func (e *estimate) number(i, width int) (n int, ok bool) {
	e.steps++
	if i+width > e.n {
		return 0, false
	}
	for _, g := range e.glyphs[i : i+width] {
		if !isDigit(g.fold) {
			return 0, false
		}
		n = 10*n + int(g.fold-'0')
	}
	return n, true
}
