package weir

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync/atomic"
	"time"
)

// ReserveOptions of one reserve.
type ReserveOptions struct {
	Lease time.Duration // until the receipt ends; by default the server's, ten minutes
	// ID makes the reserve repeatable by the caller: under the same id, nothing is charged again while the receipt is
	// open. Never take it from what a client sends.
	ID string
}

// Reservation is what was taken, until it is settled or released. One goroutine uses it.
type Reservation struct {
	Verdict     Verdict
	Receipt     string // empty: nothing is to be settled
	ReceiptEnds time.Duration
	NotKept     []string // limits that were charged, and cannot be settled

	client   *Client
	reserved uint64
	isOver   atomic.Bool
}

// Reserve takes the query's cost, or fails with a *DeniedError. Then
//
//	defer reservation.Close()
//
// gives it back, unless it was settled.
func (c *Client) Reserve(ctx context.Context, query Query, options ReserveOptions) (*Reservation, error) {
	id := options.ID
	if id == "" { // so that the transport may repeat it
		var random [16]byte
		if _, err := rand.Read(random[:]); err != nil {
			return nil, err
		}
		id = hex.EncodeToString(random[:])
	}
	m := query.encode()
	m.raw("reserve", "true")
	m.text("id", id)
	if options.Lease > 0 {
		m.seconds("lease", options.Lease)
	}
	verdict, said := c.judge(ctx, m.closed())
	if !verdict.Admitted {
		return nil, &DeniedError{Verdict: verdict}
	}
	reserved := uint64(1)
	if query.Cost != nil {
		reserved = *query.Cost
	}
	return &Reservation{Verdict: verdict, Receipt: said.Receipt, ReceiptEnds: said.ReceiptEnds.orZero(),
		NotKept: said.NotKept, client: c, reserved: reserved}, nil
}

// WithReservation reserves, calls work, and then settles what was reserved if work did not settle or release it. If
// work fails or panics, it is released.
func (c *Client) WithReservation(ctx context.Context, query Query, work func(*Reservation) error) error {
	reservation, err := c.Reserve(ctx, query, ReserveOptions{})
	if err != nil {
		return err
	}
	defer reservation.Close()
	if err := work(reservation); err != nil {
		return err
	}
	reservation.Finish()
	return nil
}

// Settle corrects what was reserved to what it cost.
func (r *Reservation) Settle(ctx context.Context, actual uint64) (Settlement, error) {
	return r.end(func() (Settlement, error) { return r.client.Settle(ctx, r.Receipt, actual) })
}

// Release gives back all that was reserved.
func (r *Reservation) Release(ctx context.Context) (Settlement, error) {
	return r.end(func() (Settlement, error) { return r.client.Release(ctx, r.Receipt) })
}

// Extend lets the receipt end so long from now, never earlier than before; 0 is the server's default.
func (r *Reservation) Extend(ctx context.Context, lease time.Duration) (Settlement, error) {
	if r.Receipt == "" {
		return Settlement{}, nil
	}
	return r.client.Extend(ctx, r.Receipt, lease)
}

// Close releases, unless it was settled or released before. A failure goes to Options.OnError: the receipt ends by
// itself, and stays charged.
func (r *Reservation) Close() {
	if r.isOver.Load() {
		return
	}
	if _, err := r.Release(context.Background()); err != nil {
		r.isOver.Store(true)
		r.client.tell(err)
	}
}

// Finish settles what was reserved, unless it was settled or released before. A failure goes to Options.OnError.
func (r *Reservation) Finish() {
	if r.isOver.Load() {
		return
	}
	if _, err := r.Settle(context.Background(), r.reserved); err != nil {
		r.isOver.Store(true)
		r.client.tell(err)
	}
}

func (r *Reservation) end(ask func() (Settlement, error)) (Settlement, error) {
	if r.Receipt == "" {
		r.isOver.Store(true)
		return Settlement{}, nil
	}
	settlement, err := ask()
	if err == nil {
		r.isOver.Store(true)
	}
	return settlement, err
}
