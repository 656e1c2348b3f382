package schema

// LegacyFile is the legacy key of a map that is the legacy file itself: the
// file's keys are the map's, but for those that are another field's declared
// legacy key.
const LegacyFile = "."
