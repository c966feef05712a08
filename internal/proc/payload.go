package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"warder/internal/platform"
)

// What goes to the stage: payloadMagic, where the output goes, the length of the environment and of the heads, the
// environment, the heads, the values, and payloadGo. The environment is of entries that end in a zero byte. A head is a
// delivery, the length of a name, the length of a value, and the name. Numbers are big-endian. All heads come first, so that
// the stage knows how much memory to lock before a value arrives.
const (
	payloadMagic = "warder-stage-2\n"
	payloadGo    = '!'     // without it the stage becomes no program
	maxEnv       = 8 << 20 // more than execve takes
	headSize     = 1 + 2 + 4
	maxHeads     = 4 << 20
	// maxPayload is what all values may have together: far more than execve takes.
	maxPayload = 64 << 20
)

// output is where a stage sends what its program prints.
type output byte

const (
	outputKept  output = iota // to the streams that the stage was started with
	outputPiped               // into the pipes of a stage that was started ahead
)

// errPayload says that what came is not a payload, or not all of one.
var errPayload = errors.New("the values did not arrive whole")

// orders are what a stage does with the values.
type orders struct {
	out output
	env []string // of the program, without the values
}

// writePayload writes all but the last byte, by which the stage becomes the program.
func writePayload(w io.Writer, o orders, injections []Injection) error {
	var env, heads []byte
	for _, entry := range o.env {
		env = append(append(env, entry...), 0)
	}
	for i := range injections {
		in := &injections[i]
		heads = append(heads, byte(in.Delivery))
		heads = binary.BigEndian.AppendUint16(heads, uint16(len(in.Name))) // #nosec G115 -- checked by Spec.check
		heads = binary.BigEndian.AppendUint32(heads, uint32(in.Size))      // #nosec G115 -- checked by Spec.check
		heads = append(heads, in.Name...)
	}
	start := append([]byte(payloadMagic), byte(o.out))
	start = binary.BigEndian.AppendUint32(start, uint32(len(env)))   // #nosec G115 -- a count in memory
	start = binary.BigEndian.AppendUint32(start, uint32(len(heads))) // #nosec G115 -- a count in memory
	if _, err := w.Write(slices.Concat(start, env, heads)); err != nil {
		return err
	}
	for i := range injections {
		if err := writeExactly(w, &injections[i]); err != nil {
			return err
		}
	}
	return nil
}

// writeExactly writes a value, which must be as long as was said.
func writeExactly(w io.Writer, in *Injection) error {
	counted := &countingWriter{w: w}
	if err := in.Write(counted); err != nil {
		return err
	}
	if counted.n != in.Size {
		return fmt.Errorf("%s: %d bytes were written of %d", in.Name, counted.n, in.Size)
	}
	return nil
}

type countingWriter struct {
	w io.Writer
	n int
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += n
	return n, err
}

// payload is what a stage got.
type payload struct {
	orders
	list []injected
}

// injected is a value that the stage got: for ByEnv text is NAME=value, else the value. It lies in locked memory.
type injected struct {
	delivery Delivery
	name     string
	text     []byte
}

// readPayload reads the injections into one locked mapping. The stage never frees it: it becomes the program, and with
// its memory the mapping goes. r is read to its end and not beyond a value, so no buffer holds a piece of one.
func readPayload(r io.Reader) (payload, error) {
	p, sizes, err := readHeads(r)
	if err != nil {
		return payload{}, err
	}
	list := p.list
	total := 1
	for i, in := range list {
		total += len(in.prefix()) + sizes[i]
	}
	if total > maxPayload {
		return payload{}, errPayload
	}
	memory, _, err := platform.AllocLocked(total)
	if err != nil {
		return payload{}, err
	}
	for i := range list {
		prefix := list[i].prefix()
		n := len(prefix) + sizes[i]
		list[i].text, memory = memory[:n:n], memory[n:]
		copy(list[i].text, prefix)
		if _, err := io.ReadFull(r, list[i].text[len(prefix):]); err != nil {
			return payload{}, errPayload
		}
	}
	if _, err := io.ReadFull(r, memory[:1]); err != nil || memory[0] != payloadGo {
		return payload{}, errPayload
	}
	if n, _ := r.Read(memory[:1]); n != 0 {
		return payload{}, errPayload
	}
	return p, nil
}

// prefix is what stands before the value.
func (in *injected) prefix() string {
	if in.delivery == ByEnv {
		return in.name + "="
	}
	return ""
}

func readHeads(r io.Reader) (p payload, sizes []int, err error) {
	var start [len(payloadMagic) + 1 + 4 + 4]byte
	if _, err := io.ReadFull(r, start[:]); err != nil || string(start[:len(payloadMagic)]) != payloadMagic {
		return payload{}, nil, errPayload
	}
	p.out = output(start[len(payloadMagic)])
	envSize := binary.BigEndian.Uint32(start[len(payloadMagic)+1:])
	size := binary.BigEndian.Uint32(start[len(payloadMagic)+1+4:])
	if p.out > outputPiped || envSize > maxEnv || size > maxHeads {
		return payload{}, nil, errPayload
	}
	heads := make([]byte, envSize+size)
	if _, err := io.ReadFull(r, heads); err != nil {
		return payload{}, nil, errPayload
	}
	for entry := range bytes.SplitAfterSeq(heads[:envSize], []byte{0}) {
		if text, whole := strings.CutSuffix(string(entry), "\x00"); whole {
			p.env = append(p.env, text)
		} else if len(text) > 0 {
			return payload{}, nil, errPayload
		}
	}
	heads = heads[envSize:]
	for len(heads) > 0 {
		if len(heads) < headSize {
			return payload{}, nil, errPayload
		}
		delivery, nameLen := Delivery(heads[0]), int(binary.BigEndian.Uint16(heads[1:]))
		valueLen := binary.BigEndian.Uint32(heads[3:])
		heads = heads[headSize:]
		if delivery > ByStdin || nameLen > len(heads) || valueLen > MaxValue {
			return payload{}, nil, errPayload
		}
		p.list = append(p.list, injected{delivery: delivery, name: string(heads[:nameLen])})
		sizes = append(sizes, int(valueLen))
		heads = heads[nameLen:]
	}
	return p, sizes, nil
}
