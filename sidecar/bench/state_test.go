package bench

import (
	"encoding/json"
	"time"

	"github.com/freehold-dev/freehold/schema"
)

// A state is the twelve fields, as a program would keep them by hand. It has
// 469 bytes as JSON.
type state struct {
	Schema    int64     `json:"schema"`
	Session   string    `json:"session"`
	Status    string    `json:"status"`
	Model     string    `json:"model"`
	Host      string    `json:"host"`
	LastError string    `json:"last_error"`
	CostUSD   float64   `json:"cost_usd"`
	TokensIn  int64     `json:"tokens_in"`
	TokensOut int64     `json:"tokens_out"`
	Retries   int64     `json:"retries"`
	Healthy   bool      `json:"healthy"`
	UpdatedAt time.Time `json:"updated_at"`
}

// sample returns the state that every contestant begins with.
func sample() state {
	return state{
		Schema:    3,
		Session:   "0198a7c4-61f2-7d0b-8e35-b1f6c02d94ae",
		Status:    "waiting_for_rate_limit_reset",
		Model:     "example-large-model-2026-08-11",
		Host:      "runner-0042.eu-west-1b.build.internal.example.org",
		LastError: "429 too many requests: retry after 118 s (limit: tokens per minute; organisation quota; request req_01K2D9TQ4M7XA)",
		CostUSD:   128.4375,
		TokensIn:  firstValue,
		TokensOut: 48_211_907,
		Healthy:   true,
		UpdatedAt: time.Date(2026, 8, 11, 9, 12, 44, 31_207_113, time.UTC),
	}
}

// plain returns the text of a sample whose measured field is n.
func plain(n int64) ([]byte, error) {
	s := sample()
	s.TokensIn = n
	return json.Marshal(s)
}

// columns returns the fields' names and values in the order of their
// declaration, for stores that keep each by itself.
func columns() (names []string, values []any) {
	s := sample()
	names = []string{"schema", "session", "status", "model", "host", "last_error", "cost_usd", "tokens_in", "tokens_out", "retries", "healthy", "updated_at"}
	values = []any{s.Schema, s.Session, s.Status, s.Model, s.Host, s.LastError, s.CostUSD, s.TokensIn, s.TokensOut, s.Retries, s.Healthy, s.UpdatedAt.Format(time.RFC3339Nano)}
	return names, values
}

// measured is the field that is written and looked at.
const measured = "tokens_in"

// types of the fields, as somebody would declare them.
var types = map[string]schema.Field{
	"schema":     {Type: schema.TypeInt},
	"session":    {Type: schema.TypeString},
	"status":     {Type: schema.TypeEnum, Values: []string{"running", "waiting_for_rate_limit_reset", "stopped"}},
	"model":      {Type: schema.TypeString},
	"host":       {Type: schema.TypeString},
	"last_error": {Type: schema.TypeString},
	"cost_usd":   {Type: schema.TypeFloat},
	"tokens_in":  {Type: schema.TypeInt},
	"tokens_out": {Type: schema.TypeInt},
	"retries":    {Type: schema.TypeInt},
	"healthy":    {Type: schema.TypeBool},
	"updated_at": {Type: schema.TypeTime},
}

// owners are the owners of the state in which views are measured.
var owners = []string{"a", "b", "c", "d", "e"}

// declaration declares a state in which each owner has the twelve fields. A
// state's field names are unique, so they have the owner's name in front.
func declaration(durability schema.Durability, names ...string) *schema.Declaration {
	d := &schema.Declaration{State: "bench", Owners: map[string]schema.Owner{}}
	for _, owner := range names {
		o := schema.Owner{Durability: durability, Busy: schema.Busy{Wait: "10s"}, Fields: map[string]schema.Field{}}
		for field, f := range types {
			o.Fields[fieldOf(owner, field)] = f
		}
		d.Owners[owner] = o
	}
	return d
}

func fieldOf(owner, field string) string { return owner + "_" + field }
