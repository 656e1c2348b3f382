module m

go 1.26

require github.com/freehold-dev/freehold v0.0.0

replace github.com/freehold-dev/freehold => ../../../testdata/freehold
