package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A flag is one flag of a command. A switch has no value.
type flag struct {
	name     string
	short    byte // or 0
	switches bool
	// check returns the error of a value; or nil.
	check func(text string) error
}

// A line is a command line, taken apart.
type line struct {
	args  []string
	flags map[string]string
	lists map[string][]string // all values of flags that may be repeated
	dash  int                 // the number of args before a "--"; negative without one
}

var negative = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-\.?[0-9]`) })

// parse takes args apart as freehold does: flags may stand between operands, and a
// negative number is an operand, behind which others that are none are out of place.
func parse(flags []flag, args []string) (line, error) {
	l := line{flags: map[string]string{}, lists: map[string][]string{}, dash: -1}
	dashed, number := slices.Contains(args, "--"), ""
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			l.dash = len(l.args)
			l.args = append(l.args, args[i+1:]...)
			return l, nil
		case !dashed && negative().MatchString(arg):
			l.args, number = append(l.args, arg), arg
		case strings.HasPrefix(arg, "-") && arg != "-":
			used, err := l.take(flags, arg, args[i+1:])
			if err != nil {
				return l, err
			}
			i += used
		case number != "":
			return l, unknownShort(number)
		default:
			l.args = append(l.args, arg)
		}
	}
	return l, nil
}

func unknownShort(arg string) error {
	return fmt.Errorf("unknown shorthand flag: %q in %s", arg[1], arg)
}

// take takes the flag arg, with its value, or with the first of rest as its value. It returns the
// number of arguments of rest that it used.
func (l *line) take(flags []flag, arg string, rest []string) (used int, err error) {
	name, value, given := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
	short := !strings.HasPrefix(arg, "--")
	if !short && (name == "" || name[0] == '-') {
		return 0, fmt.Errorf("bad flag syntax: %s", arg)
	}
	i := slices.IndexFunc(flags, func(f flag) bool { return !short && f.name == name || short && f.short == arg[1] })
	switch {
	case i < 0 && short:
		return 0, unknownShort(arg)
	case i < 0:
		return 0, fmt.Errorf("unknown flag: --%s", name)
	}
	f := flags[i]
	switch {
	case short && len(arg) > 2:
		return 0, unknownShort("-" + arg[2:])
	case f.switches && !given:
		value = "true"
	case !given && len(rest) == 0:
		return 0, fmt.Errorf("flag needs an argument: --%s", name)
	case !given:
		value, used = rest[0], 1
	}
	if f.switches {
		on, err := strconv.ParseBool(value)
		if err != nil {
			return 0, fmt.Errorf("invalid argument %q for %q flag: %w", value, f.spelling(), err)
		}
		value = strconv.FormatBool(on)
	}
	if f.check != nil {
		if err := f.check(value); err != nil {
			return 0, fmt.Errorf("invalid argument %q for %q flag: %w", value, f.spelling(), err)
		}
	}
	l.flags[f.name], l.lists[f.name] = value, append(l.lists[f.name], value)
	return used, nil
}

func (f flag) spelling() string {
	if f.short != 0 {
		return "-" + string(f.short) + ", --" + f.name
	}
	return "--" + f.name
}
