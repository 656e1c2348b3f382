module github.com/freehold-dev/freehold

go 1.26
