package found

func tests() { bad() }
