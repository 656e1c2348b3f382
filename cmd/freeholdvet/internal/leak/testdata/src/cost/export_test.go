package cost

// Nobody imports what a test exports.
var OpenForTest = open
