package secret

import "strings"

const (
	firstYear, lastYear = 1900, 2049 // of births, loves, sales and expiry dates
	dateSigns           = "-./_ "
)

// dates finds years and dates that begin at i.
func (e *estimate) dates(i int) {
	if y, ok := e.number(i, 4); ok && firstYear <= y && y <= lastYear {
		e.reach(i, i+4, join+choice(lastYear-firstYear+1))
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
	if !okA || !okB || !okC || !isDay(a, b, c) {
		return
	}
	cost := join + choice(366*(lastYear-firstYear+1))
	if gap > 0 {
		if !strings.ContainsRune(dateSigns, e.glyphs[second-1].fold) || e.glyphs[second-1].fold != e.glyphs[third-1].fold {
			return
		}
		cost += choice(len(dateSigns))
	}
	e.reach(i, third+width[2], cost)
}

// isDay says whether three numbers read as day, month and year, month, day and year, or year, month and day.
func isDay(a, b, c int) bool {
	return isYear(c) && (isMonthAndDay(a, b) || isMonthAndDay(b, a)) || isYear(a) && isMonthAndDay(b, c)
}

func isYear(y int) bool { return 0 <= y && y <= 99 || firstYear <= y && y <= lastYear }

func isMonthAndDay(m, d int) bool { return 1 <= m && m <= 12 && 1 <= d && d <= 31 }

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
