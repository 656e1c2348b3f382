package allowed

//freehold:allow toy it is for show
var a int

//freehold:allow toy // want `an allowance without a reason is none: say why after "toy"`
var b int

//freehold:allow tow it is for show // want `freeholdvet has no check "tow": name one of toy`
var c int

//freehold:allow // want `freeholdvet has no check "": name one of toy`
var d int

//freehold:deny toy
//other:allow toy
var e int
