module weirtests

go 1.19

require weir v0.0.0

replace weir => ../../../clients/go
