// Package readmodifywrite reports functions that rewrite a file they have read
//
// What another process writes between the two is lost, however atomic the
// rewriting is. It works in every test and fails where several programs share
// a file:
//
//	func bump(path string) error { // WRONG
//		text, err := os.ReadFile(path)
//		if err != nil {
//			return err
//		}
//		var u usage
//		if err := json.Unmarshal(text, &u); err != nil {
//			return err
//		}
//		u.Count++
//		text, err = json.Marshal(u)
//		if err != nil {
//			return err
//		}
//		return renameio.WriteFile(path, text, 0o600)
//	}
//
//	func bump(ctx context.Context, w *toolfile.Writer) error { // RIGHT
//		_, err := w.Update(ctx, func(tx toolfile.Tx) error {
//			tx.Count().Add(1)
//			return nil
//		})
//		return err
//	}
//
// Two accesses are to one file if their paths are the same constant, variable,
// field, or call with the same arguments, also where a function of the same
// package does the reading or the writing, and also through an open file. What
// an object was made from is not followed: a constructor that reads a file and
// a method that writes it are two functions. So are two that no function of the
// package calls one after the other, and functions of other packages; commands of
// other programs are not looked at. Appending, writing another file,
// and reading only to compare, so that nothing of what was read can be in what
// is written, are not reported.
//
// A function that holds a lock is reported too: the lock is of use only if
// everything that writes the file takes it, also shells, editors and releases
// to come, and no check can see that. If it is so, or nobody else writes the
// file, say it:
//
//	//freehold:allow readmodifywrite only the installer runs, and only once
package readmodifywrite
