// SPDX-License-Identifier: Apache-2.0

package weir

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync/atomic"
	"time"
)

// ReserveOptions configures one reserve.
type ReserveOptions struct {
	Lease time.Duration // lifetime of the receipt; by default the server's, ten minutes
	// ID makes the reserve repeatable: a reserve with the same id is not charged again while the receipt is open. Never
	// take it from client input.
	ID string
}

// Reservation is a reserved cost, to be settled or released. Not safe for concurrent use.
type Reservation struct {
	Verdict     Verdict
	Receipt     string // empty: nothing to settle
	ReceiptEnds time.Duration
	NotKept     []string // limits charged without a receipt

	client        *Client
	query         Query
	reserved      uint64
	reportID      string // for costs without a receipt
	isUnavailable bool   // true if Weir was unavailable at the reserve
	isOver        atomic.Bool
}

// Reserve reserves the query's cost, or fails with a *DeniedError. Then
//
//	defer reservation.Close()
//
// releases it, unless it was settled.
func (c *Client) Reserve(ctx context.Context, query Query, options ReserveOptions) (*Reservation, error) {
	id, err := options.ID, error(nil)
	if id == "" { // so that the transport may repeat it
		if id, err = newID(); err != nil {
			return nil, err
		}
	}
	reportID, err := newID()
	if err != nil {
		return nil, err
	}
	verdict, said := c.evaluate(ctx, query, func(m *members) {
		m.raw("reserve", "true")
		m.text("id", id)
		if options.Lease > 0 {
			m.seconds("lease", options.Lease)
		}
	})
	if !verdict.Admitted {
		return nil, &DeniedError{Verdict: verdict}
	}
	reserved := uint64(1)
	if query.Cost != nil {
		reserved = *query.Cost
	}
	return &Reservation{Verdict: verdict, Receipt: said.Receipt, ReceiptEnds: said.ReceiptEnds.orZero(),
		NotKept: said.NotKept, client: c, query: query, reserved: reserved, reportID: reportID,
		isUnavailable: said.isUnavailable}, nil
}

func newID() (string, error) {
	var random [16]byte
	_, err := rand.Read(random[:])
	return hex.EncodeToString(random[:]), err
}

// WithReservation reserves, calls work, and settles at the reserved cost if work neither settled nor released it. If
// work fails or panics, the reservation is released.
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

// Settle corrects the reserved cost to the actual cost. For limits without a receipt, it reports the excess over the
// estimate; if Weir was unavailable at the reserve, it reports the whole cost, and passes a failure to Options.OnError.
func (r *Reservation) Settle(ctx context.Context, actual uint64) (Settlement, error) {
	settlement, err := r.settle(ctx, actual)
	if err == nil {
		r.isOver.Store(true)
	}
	return settlement, err
}

func (r *Reservation) settle(ctx context.Context, actual uint64) (Settlement, error) {
	if r.isUnavailable {
		return r.reportWhatWasNotReserved(ctx, actual)
	}
	excess := uint64(0)
	if len(r.NotKept) > 0 && actual > r.reserved {
		actual, excess = r.reserved, actual-r.reserved
	}
	var settlement Settlement
	var err error
	if r.Receipt != "" {
		settlement, err = r.client.Settle(ctx, r.Receipt, actual)
	}
	if err != nil || excess == 0 {
		return settlement, err
	}
	reported, err := r.report(ctx, excess)
	return merged(settlement, reported), err
}

func (r *Reservation) reportWhatWasNotReserved(ctx context.Context, actual uint64) (Settlement, error) {
	if actual == 0 {
		return Settlement{}, nil
	}
	settlement, err := r.report(ctx, actual)
	if errors.Is(err, ErrUnavailable) {
		r.client.tell(err)
		return Settlement{}, nil
	}
	return settlement, err
}

func (r *Reservation) report(ctx context.Context, cost uint64) (Settlement, error) {
	query := r.query
	query.Cost, query.MaxWait = &cost, nil
	return r.client.Report(ctx, query, r.reportID)
}

// merged has the latest result of each limit.
func merged(settled, reported Settlement) Settlement {
	var all Settlement
	for _, one := range settled.Limits {
		isReported := false
		for _, other := range reported.Limits {
			isReported = isReported || other.Limit == one.Limit
		}
		if !isReported {
			all.Limits = append(all.Limits, one)
		}
	}
	all.Limits = append(all.Limits, reported.Limits...)
	return all
}

// Release returns the reserved cost.
func (r *Reservation) Release(ctx context.Context) (Settlement, error) {
	var settlement Settlement
	var err error
	if r.Receipt != "" {
		settlement, err = r.client.Release(ctx, r.Receipt)
	}
	if err == nil {
		r.isOver.Store(true)
	}
	return settlement, err
}

// Extend makes the receipt expire after lease from now, never earlier than before; 0 selects the server's default.
func (r *Reservation) Extend(ctx context.Context, lease time.Duration) (Settlement, error) {
	if r.Receipt == "" {
		return Settlement{}, nil
	}
	return r.client.Extend(ctx, r.Receipt, lease)
}

// Close releases the reservation, unless it was settled or released before. A failure goes to Options.OnError: the
// receipt then expires, and the cost stays charged.
func (r *Reservation) Close() {
	if r.isOver.Load() {
		return
	}
	if _, err := r.Release(context.Background()); err != nil {
		r.isOver.Store(true)
		r.client.tell(err)
	}
}

// Finish settles at the reserved cost, unless it was settled or released before. A failure goes to Options.OnError.
func (r *Reservation) Finish() {
	if r.isOver.Load() {
		return
	}
	if _, err := r.Settle(context.Background(), r.reserved); err != nil {
		r.isOver.Store(true)
		r.client.tell(err)
	}
}
