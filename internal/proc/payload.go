package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"warder/internal/platform"
)

// What goes to the stage: payloadMagic, where the output goes, the length of the heads, the heads, and the values. A
// head is a delivery, the length of a name, the length of a value, and the name. Numbers are big-endian. All heads come
// first, so that the stage knows how much memory to lock before a value arrives.
const (
	payloadMagic = "warder-stage-2\n"
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

// writePayload writes the injections.
func writePayload(w io.Writer, out output, injections []Injection) error {
	var heads []byte
	for i := range injections {
		in := &injections[i]
		heads = append(heads, byte(in.Delivery))
		heads = binary.BigEndian.AppendUint16(heads, uint16(len(in.Name))) // #nosec G115 -- checked by Spec.check
		heads = binary.BigEndian.AppendUint32(heads, uint32(in.Size))      // #nosec G115 -- checked by Spec.check
		heads = append(heads, in.Name...)
	}
	start := append([]byte(payloadMagic), byte(out))
	start = binary.BigEndian.AppendUint32(start, uint32(len(heads))) // #nosec G115 -- a count in memory
	if _, err := w.Write(append(start, heads...)); err != nil {
		return err
	}
	for i := range injections {
		counted := &countingWriter{w: w}
		if err := injections[i].Write(counted); err != nil {
			return err
		}
		if counted.n != injections[i].Size {
			return fmt.Errorf("%s: %d bytes were written of %d", injections[i].Name, counted.n, injections[i].Size)
		}
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
	out  output
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
	var start [len(payloadMagic) + 1 + 4]byte
	if _, err := io.ReadFull(r, start[:]); err != nil || string(start[:len(payloadMagic)]) != payloadMagic {
		return payload{}, nil, errPayload
	}
	p.out = output(start[len(payloadMagic)])
	size := binary.BigEndian.Uint32(start[len(payloadMagic)+1:])
	if p.out > outputPiped || size > maxHeads {
		return payload{}, nil, errPayload
	}
	heads := make([]byte, size)
	if _, err := io.ReadFull(r, heads); err != nil {
		return payload{}, nil, errPayload
	}
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
