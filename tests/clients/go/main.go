// The program that conformance_test.py runs: `driver`, which executes commands in lines of JSON with a client (like
// ../driver.py), or `apps` with settings, which serves applications behind the middleware (like ../apps.py).
package main

import (
	"fmt"
	"os"
)

func main() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "driver":
		drive()
	case len(os.Args) == 3 && os.Args[1] == "apps":
		serve(os.Args[2])
	default:
		fmt.Fprintln(os.Stderr, "usage: weirtests driver | apps SETTINGS")
		os.Exit(2)
	}
}
