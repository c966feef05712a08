package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	// systemBus is where every system has its bus, if it has one. The environment could name another.
	systemBus = "/run/dbus/system_bus_socket"

	loginName    = "org.freedesktop.login1"
	loginPath    = "/org/freedesktop/login1"
	loginManager = loginName + ".Manager"
	loginSession = loginName + ".Session"

	sleepMember = "PrepareForSleep"
	lockMember  = "Lock"

	// busPause is the wait before the bus is looked for again.
	busPause = time.Minute
	// busTime is how long one answer of the bus may take.
	busTime = 5 * time.Second
)

// loginWatch hears from the system that the machine is about to sleep or that a session of this user is locked. It can do
// nothing but lock the account, so it does not matter who else could speak on that bus.
type loginWatch struct {
	socket string
	uid    uint32
	lock   func(reason string)
	log    *slog.Logger
}

// watchSession locks the account on the system's word, until the returned function is called.
func (d *Daemon) watchSession(k *keeper) (end func() error) {
	w := &loginWatch{
		socket: systemBus, uid: uint32(os.Getuid()), // #nosec G115 -- a user id
		lock: func(reason string) { k.lock(reason, nil) },
		log:  d.log,
	}
	return inBackground(w.run)
}

// run listens for as long as ctx lasts. Where there is no bus it looks for one now and then, which costs nothing.
func (w *loginWatch) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.listen(ctx); err != nil {
			w.log.LogAttrs(ctx, slog.LevelDebug, "no word of sleep and session", slog.String("cause", err.Error()))
		}
		select {
		case <-ctx.Done():
		case <-time.After(busPause):
		}
	}
}

// listen connects to the bus and locks the account on what it hears, until the connection ends.
func (w *loginWatch) listen(ctx context.Context) error {
	conn, err := w.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // nothing is written that matters
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	for _, signal := range [][2]string{{loginManager, sleepMember}, {loginSession, lockMember}} {
		err := conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(loginName), dbus.WithMatchInterface(signal[0]), dbus.WithMatchMember(signal[1]))
		if err != nil {
			return fmt.Errorf("asking for the signal %s: %w", signal[1], err)
		}
	}
	delay := w.delaySleep(ctx, conn)
	defer func() { letSleep(delay) }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case s, ok := <-signals:
			if !ok {
				return errors.New("the bus closed the connection")
			}
			delay = w.hear(ctx, conn, s, delay)
		}
	}
}

// connect meets the bus, which may take busTime for it.
func (w *loginWatch) connect(ctx context.Context) (*dbus.Conn, error) {
	life, end := context.WithCancel(ctx)
	late := time.AfterFunc(busTime, end)
	conn, err := dbus.Connect("unix:path="+dbus.EscapeBusAddressValue(w.socket), dbus.WithContext(life),
		dbus.WithAuth(dbus.AuthExternal(strconv.FormatUint(uint64(w.uid), 10))))
	if err != nil || !late.Stop() {
		end()
		return nil, errors.Join(err, context.Cause(life))
	}
	context.AfterFunc(conn.Context(), end)
	return conn, nil
}

// hear acts on one signal, and returns the new delay of sleep.
func (w *loginWatch) hear(ctx context.Context, conn *dbus.Conn, s *dbus.Signal, delay *os.File) *os.File {
	switch s.Name {
	case loginManager + "." + sleepMember:
		if len(s.Body) == 1 && s.Body[0] == true {
			w.lock(lockSleep)
			letSleep(delay)
			return nil
		}
		letSleep(delay)
		return w.delaySleep(ctx, conn) // awake again
	case loginSession + "." + lockMember:
		if w.isOurs(ctx, conn, s.Path) {
			w.lock(lockSession)
		}
	}
	return delay
}

// isOurs reports whether a session is this user's. One that can't be asked is taken for it.
func (w *loginWatch) isOurs(ctx context.Context, conn *dbus.Conn, session dbus.ObjectPath) bool {
	ctx, cancel := context.WithTimeout(ctx, busTime)
	defer cancel()
	var user dbus.Variant
	err := conn.Object(loginName, session).
		CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, loginSession, "User").Store(&user)
	if err != nil {
		return true
	}
	parts, ok := user.Value().([]any)
	if !ok || len(parts) == 0 {
		return true
	}
	uid, ok := parts[0].(uint32)
	return !ok || uid == w.uid
}

// delaySleep asks the system to wait for the account to be locked before it sleeps. Where that is refused the account is
// locked as soon as this process runs, which may be when the machine wakes up.
func (w *loginWatch) delaySleep(ctx context.Context, conn *dbus.Conn) *os.File {
	ctx, cancel := context.WithTimeout(ctx, busTime)
	defer cancel()
	var fd dbus.UnixFD
	err := conn.Object(loginName, loginPath).
		CallWithContext(ctx, loginManager+".Inhibit", 0, "sleep", "warder", "lock the account", "delay").Store(&fd)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), "delay of sleep") // #nosec G115 -- a descriptor
}

// letSleep ends a delay.
func letSleep(delay *os.File) {
	if delay != nil {
		_ = delay.Close()
	}
}
