// Package readmodifywrite reports functions that rewrite a file they have read
//
// A write of another process between the two is lost, however atomic the
// rewriting is. The function works in every test and fails where several
// programs share a file:
//
//	func bump(path string) error { // WRONG
//		var u usage
//		text, err := os.ReadFile(path)
//		if err == nil {
//			err = json.Unmarshal(text, &u)
//		}
//		if err != nil {
//			return err
//		}
//		u.Count++
//		text, _ = json.Marshal(u)
//		return renameio.WriteFile(path, text, 0o600)
//	}
//
//	_, err := w.Update(ctx, func(tx toolfile.Tx) error { // RIGHT
//		tx.Count().Add(1)
//		return nil
//	})
//
// Two accesses are to one file if their paths are the same constant, variable,
// field, or call with the same arguments, also where a function of the same
// package does the reading or the writing, and also through an open file. The
// origin of an object is not followed: a constructor that reads a file and a
// method that writes the file are two functions. So are two that no function of
// the package calls one after the other, and functions of other packages;
// commands of other programs are not looked at. Appending, writing another
// file, and reading only to compare are not reported.
//
// A function that holds a lock is reported too: the lock is of use only if
// every writer of the file takes the lock, also shells, editors and releases to
// come, and no check can see that. If all do, or no other process writes the
// file, say so:
//
//	//freehold:allow readmodifywrite only the installer runs, and only once
package readmodifywrite
