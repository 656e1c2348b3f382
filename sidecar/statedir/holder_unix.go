//go:build unix && !linux

package statedir

func (l *Lock) holder() int { return 0 }

func lockHolder(dev, ino uint64) int { return 0 }
