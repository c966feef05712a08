package daemon

import "time"

// clock tells how much time has passed. Neither a clock that is set nor sleep misleads it.
type clock struct {
	now  func() time.Time
	boot func() (time.Duration, error) // goes on in sleep, is never set; fails where the system has none
}

// moment is a point in time of this process's life.
type moment struct {
	wall   time.Time
	boot   time.Duration
	booted bool // boot was read
}

func (c clock) moment() moment {
	boot, err := c.boot()
	return moment{wall: c.now(), boot: boot, booted: err == nil}
}

// awake is a time that goes on in sleep where the system has such a clock. It is only good for comparing with itself.
func (c clock) awake() time.Time {
	boot, err := c.boot()
	if err != nil {
		return c.now()
	}
	return time.Unix(0, int64(boot))
}

// since is how much time passed since m. Where the system has no clock that goes on in sleep, it is the longer of what the
// other two say: one stands still in sleep, the other can be set.
func (c clock) since(m moment) time.Duration {
	now := c.moment()
	if now.booted && m.booted {
		return now.boot - m.boot
	}
	return max(now.wall.Sub(m.wall), now.wall.Round(0).Sub(m.wall.Round(0)))
}
