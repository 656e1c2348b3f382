// Package boxedhandle reports handles of an owner that are put into an interface
//
// The check leak compares types, and an interface has room for an owner's Writer
// or Tx without naming it. Others take it out again by its methods:
//
//	each(tx)                                      // WRONG, of func(tx any)
//	var c io.Closer = w                           // WRONG
//	funcs := template.FuncMap{"open": costfile.Open} // WRONG
//	tx.(interface{ TotalUSD() sidecar.Counter[decimal.Decimal] }) // WRONG
//
//	each(func(usd decimal.Decimal) { tx.TotalUSD().Add(usd) }) // RIGHT: a verb
//	cleanup(w.Close)                                           // RIGHT
//
// A handle counts inside of a pointer, a slice, a map, a channel, an exported
// field and the result of a function or method. A struct that keeps a handle
// in a field of its own, without a method that returns the handle, gives
// nothing away.
package boxedhandle
