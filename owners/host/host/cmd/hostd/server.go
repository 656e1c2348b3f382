package main

import (
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// A server answers each connection with one line that names the host.
type server struct {
	listener net.Listener
	under    sync.WaitGroup // the connections and the listener
}

func listen() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{listener: l}
	s.under.Go(s.serve)
	return s, nil
}

func (s *server) endpoint() string { return s.listener.Addr().String() }

func (s *server) serve() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return // the listener is closed
		}
		s.under.Go(func() { answer(conn) })
	}
}

func answer(conn net.Conn) {
	defer conn.Close()
	const patience = 5 * time.Second // a client that does not read must not keep the host from draining
	conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(conn, "host %d\n", os.Getpid())
}

// close accepts nothing new and returns after the last answer. Closing again is
// harmless.
func (s *server) close() {
	s.listener.Close()
	s.under.Wait()
}
