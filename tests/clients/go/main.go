// What conformance_test.py runs: `driver`, which does what lines of JSON say with a client (as ../driver.py does), or
// `apps` and their settings, which serves applications behind the middleware (as ../apps.py does).
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
