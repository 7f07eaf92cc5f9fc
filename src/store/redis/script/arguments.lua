-- Decides a batch of groups on states that nodes share, bit for bit like src/core.
--
-- It reads all states, decides the groups in order, and writes each changed state once. Everything that can fail comes
-- before the first write. The answer is small: the states as read, and how many copies of each group were
-- admitted. The node replays the decisions and derives all other numbers from them.
--
-- Units: times are whole microseconds since the epoch, by this server's clock. Every number is whole and below 2^53, so
-- that a double represents it exactly; where a product could exceed that, a comment says why it does not, or it is
-- computed in limbs.
--
-- KEYS      first those of buckets, then those of windows and of keys that are only forgotten, then those of logs; each
--           once. The keys after these are only declared, for a cluster: those next to a state, in the same slot
-- ARGV[1]   a MessagePack array of numbers:
--             the number of bucket keys, the number of keys that are not logs, the start of the first evaluation,
--             the operations used: 0 only the two short ones, 1 also DECIDE and LOOK, 2 any, 3 any, and all slices
--             of all keys are returned; and the number of keys up to the last log
--             for each key that is not a bucket, the start of a term for it in this array; 0 if it is only forgotten
--             the terms, then the evaluations
-- ARGV[2]   if receipts are needed, an array of numbers: the number of keys whose receipts are needed; these keys,
--           negated if all receipts of the key are; then the key of each name in ARGV[3]
-- ARGV[3]   the names of the receipts, 17 bytes each: `o` for an open one or `i` for the id of a report, and the id
--
-- A term is a rule and a cost. Its first number is the algorithm, which defines the others:
--   bucket, queue    algorithm  cost  N  fill, its nths  reach, its nths  worth of the cost, its nths
--                    worth of a token, its nths  burst  most  max_wait
--   windows, log     algorithm  cost  limit  window
--   fixed window of a calendar: 0 for the window, followed by four edges: the start of the previous window, the start
--                    and the end of the window that the node takes for the present one, and the next end
--   holds            algorithm  cost  limit  lease
-- `reach` is how far ahead of now a state can be: a state further ahead was written under other numbers, and counts as
-- this much. `most` is how often the cost fits into the burst. A settlement has `how` in place of the cost (0 nothing,
-- 1 refund, 2 owe) and, instead of `most` or after the window:
--   bucket           when it would be full again, right after the charge
--   queue            when it was charged  worth of the charge, its nths
--   windows          units  the charged window
--   of a calendar    units  the times between which a state that counts the charged window ends
--   log              units  when it was charged
--
-- An evaluation is an operation, its number of copies, its number of checks, and for each check the number of its key
-- (negated for a guard) and the start of its term. The most common ones have a short form, for a single bucket (not a
-- queue) and a cost that is not 0:
--   DECIDE_ONE       operation  key  term
--   DECIDE_ALIKE     operation  copies  key  term
-- A message about a slice has two parts, around the evaluation that it was sent with (src/core/ledger.h):
--   REPORT           operation  key  term  holder (two of 32 bits)  number  used  keep  unasked
--                    used before  number of the holder's window (0: the present one)
--   GRANT            operation  key  term  holder (two of 32 bits)  number  want  nodes  lease  used
-- Operations on receipts (src/core/receipts.h) add the number of a name (0: without a receipt) and another number after
-- the key and the term of each check:
--   RESERVE          like DECIDE, but opens receipts; the number is their lifetime. Instead of copies, 1; 0 only looks
--   SETTLE_RECEIPT   the number is the actual cost; -1 keeps the charge
--   EXTEND           the number is the new lifetime
--   USED             charges the cost of the term without a decision; the number is ignored
--
-- States
--   bucket, queue    `A` or `A:B`: the theoretical arrival time, and its nths unless they are 0
--   fixed window     `A`: count x 2^20 + the number of the window mod 2^20
--   of a calendar    `A:B`: the count, and the end of the window
--   counter          `A` or `A:B`: like a fixed window, and the count of the previous window unless it is 0
--   holds            nothing but the receipts
--   log              binary: the number of expired entries at the front, and the running total before the live ones
--                    (4 bytes each); then the entries, 12 bytes each: time (8), running total mod 2^32 (4)
-- A bucket or a window with leased slices is followed by `!` and totals (src/core/ledger.h): the number of slices (2
-- bytes), units (8), demand (8), a lower bound of the first expiration (8), an upper bound of the last (8), and for a
-- fixed window the number of the window of all slices (8). The slices are in a hash, the key plus `:s`: by holder, 40
-- bytes each: holder (8), number (8), units (4), demand (4), expiration (8), used (8). A decision reads only the totals. A value
-- without its hash counts the lost slices as used at the first expiration; a hash without its value is removed with the
-- next grant.
--
-- A version that does not know them rejects such a state. Every key expires when its state can be forgotten.
--
-- Receipts are in a hash, the key of the state plus `:r` (for holds, the key itself), and a sorted set, plus `:e`. Only
-- operations on receipts, refunds to a bucket, and FORGET name them. All numbers have 7 bytes unless noted.
--   `t`              totals: version (1 byte), number of open receipts (2), number of ids of reports (2), units of the
--                    open receipts, a lower bound of the first expiration, an upper bound of the last, the sequence of
--                    the newest receipt, the latest position of a receipt and its nths, the number of credits so far
--   `c`              the latest credits of a bucket that receipts have not seen: position and nths, what was given back
--                    and its nths, N
--   `o` + id         cost, position (the arrival time right after the charge, or the number of its window; for a
--                    calendar its end, for a log the time of its entry), its nths, expiration, sequence, and the number
--                    of credits that it has seen
--   `i` + id         expiration
-- The sorted set has these names by expiration; those of receipts are followed by their cost. Both expire with the last
-- receipt. State, hash and set may each be lost without the others: without the hash, receipts have ended; without the
-- set, it is written again; without the state, nothing is given back.
--
-- Returns {now, states, admitted}, followed by {charges, slices, receipts} unless all of these are empty. The states
-- are the texts as read, or nil; a log is {used, newest, and pairs of a cost and the time at which the oldest entries
-- that add up to it expire}: its first entry, and those that a denial waits for. `admitted` has a number for each
-- evaluation: the admitted copies; for REPORT, whether the message was accepted; for GRANT, the units of the slice;
-- for RESERVE, one more than the receipts opened, or 0; for the others, the number of checks that something was done
-- for. A log that was settled is returned as it is afterwards, so `charges` has a number for each check of
-- SETTLE_RECEIPT and USED on a log: the units charged. `slices` has pairs of a key's number and bytes: the slices that
-- were read, as they were. So has `receipts`: the totals, and the receipts that were read as they were before the
-- batch, each as its name and its numbers without that of the credits.

local call, format, floor, tonumber = redis.call, string.format, math.floor, tonumber

local BUCKET, QUEUE, FIXED, COUNTER, LOG, HOLDS = 1, 2, 3, 4, 5, 6
local DECIDE_ONE, DECIDE_ALIKE = 1, 2
local DECIDE, LOOK, DECIDE_IN_STEPS, LOOK_IN_STEPS, SETTLE, FORGET = 3, 4, 5, 6, 7, 8
local REPORT, GRANT = 9, 10
local RESERVE, SETTLE_RECEIPT, EXTEND, USED = 11, 12, 13, 14
local REFUND, OWE = 1, 2

local EXACT = 9007199254740992  -- 2^53
local WINDOWS = 1048576  -- 2^20: window numbers are stored modulo this
local TOTALS = 4294967296  -- 2^32: running totals are stored modulo this

local KEYS = KEYS
local input = cmsgpack.unpack(ARGV[1])
local buckets, plain, needs, keys = input[1], input[2], input[4], input[5]

local time = call('TIME')
local now = time[1] * 1000000 + time[2]

-- The states, by key number.
--   bucket, queue   first: whole microseconds of the arrival time   second: its nths
--   windows         first: the number of the window   second: its count   third: the count of the previous window
--   of a calendar   first: the end of the window   second: its count
--   holds           second: the units held by the checks of one evaluation
--   log             first: the units used   second: the units added by this batch   logs: the rest
-- A state that was never used has -1 as its first number, except for a log.
local first, second, third, logs = {}, {}, {}, nil
local window = {}   -- the length, by key
local changed = {}  -- true: write it; false: delete it
local states = {}   -- the texts
local leases        -- by key: the totals of the leased slices; nil if no key has any
local may_expire = false  -- slices of some key may have expired
local lease_terms = {}  -- by key: a term of its rule
local slices        -- by key: the slices that were read or changed, by holder; false: there is none
local all_read = {} -- by key: all slices were read
local is_first = {} -- by key: it had no slices before
local dirty_slices  -- by key: the holders of slices to write
local slices_read   -- the slices to return
local receipts      -- by key: its receipts, if the batch names them; nil if it names none
local charges       -- units charged to logs without a decision; nil if there are none
