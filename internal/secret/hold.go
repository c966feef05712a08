package secret

// Hold lends the bytes of v until [Release], for who uses them so often that a Use for each time would cost too much. It is
// right for tables of [MakeDerived] alone: while a Value is held its Destroy would wait, so that its owner calls [Retire].
// Its only error is ErrDestroyed.
func Hold(v Value) ([]byte, error) {
	if v.c == nil {
		return nil, nil
	}
	return v.c.enter()
}

// Release ends one Hold.
func Release(v Value) {
	if v.c != nil {
		v.c.leave()
	}
}

// Retire is Destroy for a Value that others may hold: it doesn't wait, and the last of them wipes the bytes.
func Retire(v Value) {
	if v.c != nil {
		v.c.retire()
	}
}
