package gen

// ID is the parameter after dir that says which instance, where there are any.
func (s *state) ID() string {
	if s.By == "" {
		return ""
	}
	return ", id"
}

// WriterOf, ReaderOf and NoState say what Open opens and when it cannot.

func (s *state) WriterOf() string {
	if s.By == "" {
		return "Open returns a Writer for the state in dir; o may be nil."
	}
	return "Open returns a Writer for the instance of the state in dir whose " + s.By + " is id; o may be nil. With the option Create it makes the instance if there is none."
}

func (s *state) ReaderOf() string {
	if s.By == "" {
		return "Open returns a Reader of the state in dir."
	}
	return "Open returns a Reader of the instance of the state in dir whose " + s.By + " is id."
}

func (s *state) NoState() string {
	if s.By == "" {
		return "It returns [sidecar.ErrNoState] if dir holds no state,"
	}
	return "It returns [sidecar.ErrInstance] if id is empty or cannot be one, [sidecar.ErrNoState] if there is no such instance,"
}
