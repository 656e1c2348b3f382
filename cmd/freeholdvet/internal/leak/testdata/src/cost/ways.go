package cost

import (
	"context"
	"iter"

	"m/cost/internal/costfile"
)

type W = costfile.Writer // want `cost.W mentions`

type Mine costfile.Writer // want `cost.Mine mentions`

var Default *costfile.Writer // want `cost.Default mentions`

var OpenIt = func(ctx context.Context) (*costfile.Writer, error) { return nil, nil } // want `cost.OpenIt mentions`

func Later(ctx context.Context) func() *costfile.Writer { return nil } // want `cost.Later mentions`

func Chan() chan *costfile.Writer { return nil } // want `cost.Chan mentions`

func All() iter.Seq2[int, costfile.Tx] { return nil } // want `cost.All mentions`

type Opener interface{ Open() *costfile.Writer } // want `cost.Opener.Open mentions`

type embedded struct{ *costfile.Writer } // want `cost.Emb.Writer mentions` `cost.Get.Writer mentions`

type Emb struct{ embedded }

type Emb2 struct{ *costfile.Writer } // want `cost.Emb2.Writer mentions`

func Get() *embedded { return nil }

func Gen[T costfile.Tx | int](v T) {} // want `cost.Gen mentions`

func Ins(b Box[costfile.Tx]) {} // want `cost.Ins mentions`

type Box[T any] struct{ V T }

type hidden struct{}

func (hidden) Tx() costfile.Tx { return costfile.Tx{} } // want `cost.Emb3.Tx mentions` `cost.Hid.Tx mentions` `cost.Hidden.Tx mentions`

func Hidden() hidden { return hidden{} }

var Hid hidden

type Fn func(costfile.Tx) // want `cost.Fn mentions`

func Opt(opts ...func(*costfile.Writer)) {} // want `cost.Opt mentions`

type M map[string]costfile.Tx // want `cost.M mentions`

type Pub struct{}

func (p *Pub) w() *costfile.Writer { return nil }

func (p *Pub) Do(fn func(w *costfile.Writer)) {} // want `cost.Pub.Do mentions`

func Any() any { return costfile.Tx{} } // an any is not looked into

type Seq struct{ private *costfile.Writer }

func Fine(s Seq) {}

type Emb3 struct{ hidden }
