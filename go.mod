module github.com/freehold-dev/freehold

go 1.26

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/shopspring/decimal v1.6.0 // indirect
)
