package declare

import (
	"encoding/json"
	"fmt"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"pgregory.net/rapid"
)

func TestGoNamesFollowGo(t *testing.T) {
	for name, want := range map[string]string{
		"total_usd":                 "TotalUSD",
		"last_raw_archive_at":       "LastRawArchiveAt",
		"session_id":                "SessionID",
		"session_ids":               "SessionIDs",
		"id":                        "ID",
		"url":                       "URL",
		"base_urls":                 "BaseURLs",
		"http_port":                 "HTTPPort",
		"pid":                       "PID",
		"json_body":                 "JSONBody",
		"html":                      "HTML",
		"api_key":                   "APIKey",
		"utf8_text":                 "UTF8Text",
		"sha256_sum":                "SHA256Sum",
		"id2":                       "ID2",
		"ipv6_address":              "IPv6Address",
		"identity":                  "Identity",
		"idle":                      "Idle",
		"apiary":                    "Apiary",
		"type":                      "Type",
		"func":                      "Func",
		"a":                         "A",
		"a_":                        "A",
		"a__b":                      "AB",
		"v2":                        "V2",
		"p95_latency":               "P95Latency",
		"x_1_2":                     "X12",
		"last_prompt_observed_at":   "LastPromptObservedAt",
		"set_f":                     "SetF",
		"tmux_session":              "TmuxSession",
		"cpu_seconds":               "CPUSeconds",
		"class":                     "Class",
		"status":                    "Status",
		"uuid_of_last_transcript_s": "UUIDOfLastTranscriptS",
	} {
		if got := GoName(name, schema.Field{}); got != want {
			t.Errorf("GoName(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestGoNameIsTheOneDeclared(t *testing.T) {
	if got := GoName("total_usd", schema.Field{Go: "Money"}); got != "Money" {
		t.Errorf("GoName = %s, want Money", got)
	}
}

func TestValueNamesFollowTheirField(t *testing.T) {
	for value, want := range map[string]string{
		"pane-frozen":  "RestartReasonPaneFrozen",
		"dead_process": "RestartReasonDeadProcess",
		"v1.2":         "RestartReasonV12",
		"9lives":       "RestartReason9lives",
		"GET":          "RestartReasonGET",
		"camelCase":    "RestartReasonCamelCase",
		"no-id":        "RestartReasonNoID",
		"https":        "RestartReasonHTTPS",
	} {
		if got := GoValueName("RestartReason", value); got != want {
			t.Errorf("GoValueName(%q) = %s, want %s", value, got, want)
		}
	}
	if got, want := GoValueName("Why", "a"), "WhyA"; got != want {
		t.Errorf("GoValueName with go: %s, want %s", got, want)
	}
}

func TestEveryNameIsAnExportedIdentifier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(schema.NameRule).Draw(t, "name")
		got := GoName(name, schema.Field{})
		if !token.IsIdentifier(got) || !token.IsExported(got) {
			t.Errorf("GoName(%q) = %q", name, got)
		}
		value := rapid.StringMatching(valueRule).Draw(t, "value")
		if got := GoValueName(GoName(name, schema.Field{}), value); !token.IsIdentifier(got) {
			t.Errorf("GoValueName(%q, %q) = %q", name, value, got)
		}
	})
}

// TestInitialismsAreSorted, because they are searched by halving.
func TestInitialismsAreSorted(t *testing.T) {
	if !slices.IsSorted(initialisms) {
		t.Error("the initialisms are not sorted")
	}
	if n := len(slices.Compact(slices.Clone(initialisms))); n != len(initialisms) {
		t.Error("an initialism is there twice")
	}
}

// TestOwnersSchemaHasTheLimits: the schema of owners.yaml is written by hand.
func TestOwnersSchemaHasTheLimits(t *testing.T) {
	for limit, key := range map[any]string{
		schema.NameRule: "pattern", valueRule: "pattern", maxDoc: "maxLength", maxLine: "maxLength", maxValues: "maxItems", maxDependencies: "maxItems",
	} {
		want, _ := json.Marshal(limit)
		if says := fmt.Sprintf("%q: %s", key, want); !strings.Contains(string(schema.OwnersSchema), says) {
			t.Errorf("the schema does not say %s", says)
		}
	}
}
