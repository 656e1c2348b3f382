package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// Requests come by a socket in the abstract name space, which leaves no file
// behind. Its name has the holder's nonce, which only the record tells, and
// who may not read the record is not answered either.

type handoffCall struct {
	Owner string         `json:"owner"`
	To    store.Identity `json:"to"`
	// GraceNS is the time that the command may take to end, in nanoseconds.
	GraceNS int64 `json:"grace_ns"`
}

type handoffAnswer struct {
	Status int    `json:"status"`
	Says   string `json:"says,omitempty"`
}

func handoffAddress(owner string, holder store.Identity) string {
	return fmt.Sprintf("@freehold-%s-%s", holder.Nonce, owner)
}

// receiveHandoffs returns the requests that this process hands its lease of
// owner over, until stop is called.
func receiveHandoffs(owner string) (requests <-chan handoffRequest, stop func(), err error) {
	listener, err := net.Listen("unix", handoffAddress(owner, store.Self()))
	if err != nil {
		return nil, nil, err
	}
	out := make(chan handoffRequest)
	over := make(chan struct{})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go receiveHandoff(conn, owner, out, over)
		}
	}()
	return out, func() { close(over); listener.Close() }, nil
}

// What a request or an answer may be, whoever sends it.
const (
	mostAsked = 5 * time.Second // to come in
	mostSaid  = 64 << 10        // bytes
)

// hear reads a request or an answer.
func hear(conn net.Conn, v any) error {
	return json.UnmarshalRead(io.LimitReader(conn, mostSaid), v)
}

func receiveHandoff(conn net.Conn, owner string, out chan<- handoffRequest, over <-chan struct{}) {
	var call handoffCall
	conn.SetReadDeadline(time.Now().Add(mostAsked))
	if !mine(conn) || hear(conn, &call) != nil || call.Owner != owner {
		conn.Close()
		return
	}
	request := handoffRequest{to: call.To, grace: time.Duration(call.GraceNS), reply: func(err error) {
		answer := handoffAnswer{Status: exitStatus(err)}
		if err != nil {
			answer.Says = err.Error()
		}
		json.MarshalWrite(conn, answer) // who does not wait for it has gone
		conn.Close()
	}}
	select {
	case out <- request:
	case <-over:
		conn.Close()
	}
}

// mine reports whether the process at the other end is the same user's.
func mine(conn net.Conn) bool {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return false
	}
	var peer *unix.Ucred
	controlErr := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	return errors.Join(controlErr, err) == nil && int(peer.Uid) == os.Geteuid()
}

// requestHandoff asks the holder of owner's lease to hand it to the process to.
func requestHandoff(ctx context.Context, owner string, holder sidecar.Holder, to store.Identity, grace time.Duration) error {
	unanswered := func(why error) error {
		if cause := context.Cause(ctx); cause != nil {
			return fmt.Errorf("owner %s: %w: process %d was asked to hand the lease over, and may do so yet: %w; look with `freehold lease %s`", owner, sidecar.ErrDeadline, holder.Identity.PID, cause, owner)
		}
		return fmt.Errorf("owner %s: %w: process %d, program %.64q, holds the lease and does not answer (%w): only `freehold lease` can be asked; let other programs hand over by themselves",
			owner, sidecar.ErrBusy, holder.Identity.PID, holder.Program, why)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", handoffAddress(owner, holder.Identity))
	if err != nil {
		return unanswered(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	conn.SetDeadline(time.Now().Add(2*grace + mostAsked))
	var answer handoffAnswer
	err = json.MarshalWrite(conn, handoffCall{owner, to, grace.Nanoseconds()})
	if err == nil {
		err = conn.(*net.UnixConn).CloseWrite()
	}
	if err == nil {
		err = hear(conn, &answer)
	}
	if err != nil {
		return unanswered(err)
	}
	if answer.Status != exitDone {
		return verdict{answer.Status, answer.Says}
	}
	return nil
}
