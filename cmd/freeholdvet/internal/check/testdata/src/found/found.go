package found

func bad() {}

func calls() {
	bad() // want `a bad call: make none`
	bad() //freehold:allow toy it is for show
	//freehold:allow toy it is for show
	bad()
	// It was considered.
	//freehold:allow toy it is for show, and that
	// takes some words
	bad()
	bad() // want `a bad call`

	//freehold:allow toy too far up // want `toy finds nothing here`

	bad() // want `a bad call`

	bad() //freehold:allow other it is for show // want `a bad call`
	bad() //freehold:allow toy // want `a bad call`
	// freehold:allow toy a space makes it prose
	bad() // want `a bad call`
	bad() //freehold:allow toy this is for the line it ends
	bad() // want `a bad call`
}

//freehold:allow toy nothing is bad here // want `toy finds nothing here: remove the allowance`
func good() {}
