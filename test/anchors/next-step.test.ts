import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnchorStatus } from '../../src/anchors/intents/anchor.ts'
import { nextStep, type PursuedAnchor, type Seen } from '../../src/anchors/intents/next-step.ts'
import { type Sighted, seenTogether } from '../../src/anchors/intents/seen-together.ts'
import type { Inclusion, Sighting } from '../../src/ledgers/ledger.ts'

const rules = { patienceUs: 1_000, retryUsMin: 10, retryUsMax: 100, jitter: 0.5 }

const inclusion: Inclusion = {
  height: 1,
  timeUs: 0,
  header: '{}',
  blockHash: '00',
  path: { index: 0, size: 1, hashes: [] },
  signatures: [],
}

const anySeen: fc.Arbitrary<Seen> = fc.oneof(
  fc.constantFrom<Seen>(
    { is: 'nothing' },
    { is: 'unreachable', reason: 'down' },
    { is: 'unknown' },
    { is: 'pending' },
    { is: 'outbid' },
    { is: 'accepted' },
    { is: 'early' },
    { is: 'superseded' },
    { is: 'refused', reason: 'malformed' },
  ),
  fc.boolean().map((isFinal): Seen => ({ is: 'included', isFinal, inclusion })),
)

/** An anchor as rows have it, moved on by what is seen: what a lane does, without a ledger. */
class Rows {
  anchor: PursuedAnchor = {
    state: 'waiting',
    isSigned: false,
    hasRivals: false,
    begunAtUs: 0,
    failures: 0,
  }
  readonly progress: AnchorStatus[] = []
  signatures = 0
  superseded = 0
  nowUs = 0

  see(seen: Seen, afterUs: number) {
    this.nowUs += afterUs
    const step = nextStep(this.anchor, seen, this.nowUs, rules)
    if (seen.is === 'superseded' && this.anchor.isSigned && step.action === 'sign') {
      this.superseded++
      this.anchor = { ...this.anchor, isSigned: false }
    }
    if (step.action === 'sign') {
      if (this.anchor.isSigned) throw new Error('it would be signed twice')
      this.signatures++
      const { state } = step
      this.anchor = { ...this.anchor, isSigned: true, state: state === 'error' ? state : 'signed' }
    } else {
      this.anchor = { ...this.anchor, state: step.state }
    }
    this.anchor = { ...this.anchor, failures: step.failures }
    for (const status of step.statuses) {
      if (!this.progress.includes(status)) this.progress.push(status)
    }
    return step
  }

  retry() {
    if (this.anchor.state !== 'error') return
    const state = this.anchor.isSigned ? 'signed' : 'waiting'
    this.anchor = { ...this.anchor, state, begunAtUs: this.nowUs, failures: 0 }
  }
}

/** One that is signed, and has nothing beside it. */
const signed: PursuedAnchor = {
  state: 'signed',
  isSigned: true,
  hasRivals: false,
  begunAtUs: 0,
  failures: 0,
}

/** What a ledger says that works, to whatever it is asked. */
function answerTo(action: string, asked: number): Seen {
  if (action === 'sign') return { is: 'nothing' }
  if (action === 'send') return { is: 'accepted' }
  return asked < 2 ? { is: 'unknown' } : { is: 'included', isFinal: true, inclusion }
}

const history = fc.array(fc.tuple(anySeen, fc.nat({ max: 300 }), fc.boolean()), { maxLength: 60 })

describe('the next step of an anchor', () => {
  it('signs no second time for what may still get in, whatever is seen', () => {
    fc.assert(
      fc.property(history, (seen) => {
        const rows = new Rows()
        for (const [one, afterUs, isRetried] of seen) {
          rows.see(one, afterUs)
          if (isRetried) rows.retry()
        }
        expect(rows.signatures).toBeLessThanOrEqual(1 + rows.superseded)
      }),
    )
  })

  it('leaves neither COMPLETED nor FAILED', () => {
    fc.assert(
      fc.property(history, history, (before, after) => {
        const rows = new Rows()
        for (const [one, afterUs] of before) rows.see(one, afterUs)
        const end = rows.anchor.state
        fc.pre(end === 'completed' || end === 'failed')
        for (const [one, afterUs] of after) {
          const step = rows.see(one, afterUs)
          expect(step.action).toBe('rest')
          expect(step.statuses).toEqual([])
        }
        expect(rows.anchor.state).toBe(end)
      }),
    )
  })

  it('has the statuses in their order, and ends once', () => {
    fc.assert(
      fc.property(history, (seen) => {
        const rows = new Rows()
        for (const [one, afterUs] of seen) rows.see(one, afterUs)
        const { progress } = rows
        expect(new Set(progress).size).toBe(progress.length)
        expect(progress.includes('COMPLETED') && progress.includes('FAILED')).toBe(false)
        const ends = progress.filter((status) => status === 'COMPLETED' || status === 'FAILED')
        if (ends.length > 0) expect(progress.at(-1)).toBe(ends[0])
        if (progress.includes('COMPLETED')) expect(progress).toContain('LEDGER_SUBMITTED')
      }),
    )
  })

  it('gets through with a ledger that works, wherever it was', () => {
    fc.assert(
      fc.property(history, (seen) => {
        const rows = new Rows()
        for (const [one, afterUs] of seen) rows.see(one, afterUs)
        let step = rows.see({ is: 'nothing' }, 0)
        for (let asked = 0; asked < 10; asked++) {
          // Its time may be over on the way, and somebody asks for it again.
          if (rows.anchor.state === 'error') {
            rows.retry()
            step = rows.see({ is: 'nothing' }, 0)
          }
          if (step.action !== 'rest') step = rows.see(answerTo(step.action, asked), 1)
        }
        expect(['completed', 'failed']).toContain(rows.anchor.state)
      }),
    )
  })

  it('is an error once its time is over, and not before', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Seen>(
          { is: 'unreachable', reason: 'down' },
          { is: 'unknown' },
          { is: 'pending' },
          { is: 'early' },
        ),
        fc.nat({ max: 2_000 }),
        (seen, afterUs) => {
          const rows = new Rows()
          rows.see({ is: 'nothing' }, 0)
          const step = rows.see(seen, afterUs)
          expect(step.state === 'error').toBe(afterUs >= rules.patienceUs)
          expect(step.failure?.error).toBe(
            afterUs >= rules.patienceUs ? 'ledger_timeout' : undefined,
          )
        },
      ),
    )
  })

  it('waits twice as long after each failure, up to a limit', () => {
    const down: Seen = { is: 'unreachable', reason: 'down' }
    const anchor = { state: 'signed', isSigned: true, hasRivals: false, begunAtUs: 0 } as const
    const waits = [0, 1, 2, 3, 4, 40].map(
      (failures) => nextStep({ ...anchor, failures }, down, 0, { ...rules, jitter: 1 }).dueAtUs,
    )
    expect(waits).toEqual([10, 20, 40, 80, 100, 100])
  })

  it('goes back when the ledger takes a block back, and says it to nobody', () => {
    const anchor = { ...signed, state: 'included' } as const
    expect(nextStep(anchor, { is: 'unknown' }, 5, rules)).toMatchObject({
      state: 'signed',
      action: 'send',
      statuses: [],
    })
  })

  it('signs under better terms what is signed and outbid while there is time, and nothing else', () => {
    fc.assert(
      fc.property(history, (seen) => {
        const rows = new Rows()
        for (const [one, afterUs, isRetried] of seen) {
          const { isSigned, state, begunAtUs } = rows.anchor
          const step = rows.see(one, afterUs)
          const isLate = state !== 'error' && rows.nowUs - begunAtUs >= rules.patienceUs
          const isOver = state === 'completed' || state === 'failed'
          expect(step.action === 'bump').toBe(one.is === 'outbid' && isSigned && !isLate && !isOver)
          if (step.action === 'bump') expect(step.statuses).toEqual([])
          if (isRetried) rows.retry()
        }
      }),
    )
  })

  it('ends nothing by what is seen of one, while another one of its sequence may get in', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Seen>({ is: 'refused', reason: 'too late' }, { is: 'superseded' }),
        fc.constantFrom<PursuedAnchor['state']>('signed', 'submitted', 'included', 'error'),
        fc.nat(),
        (seen, state, nowUs) => {
          const step = nextStep({ ...signed, state, hasRivals: true }, seen, nowUs, rules)
          expect(step).toMatchObject({ state, action: 'look', statuses: [] })
          expect(step.dueAtUs).toBe(nowUs + rules.retryUsMin)
        },
      ),
    )
  })

  it('looks for all when the newest is early, as one of before may have its place', () => {
    const early: Seen = { is: 'early' }
    expect(nextStep({ ...signed, hasRivals: true }, early, 5, rules).action).toBe('look')
    expect(nextStep(signed, early, 5, rules).action).toBe('send')
  })
})

const sighting: fc.Arbitrary<Sighting> = anySeen.filter(
  ({ is }) => is !== 'nothing' && is !== 'outbid' && is !== 'accepted',
) as fc.Arbitrary<Sighting>

const group = fc
  .array(sighting, { minLength: 1, maxLength: 5 })
  .map((all) => all.map((seen, at) => ({ hash: `${at}`, seen })) as [Sighted, ...Sighted[]])

describe('what is seen of all under one sequence', () => {
  it('is that of whichever is in a block', () => {
    fc.assert(
      fc.property(group, (all) => {
        const included = all.find(({ seen }) => seen.is === 'included')
        const together = seenTogether(all)
        expect(together.seen.is === 'included').toBe(included !== undefined)
        if (included) expect(together).toBe(included)
      }),
    )
  })

  it('is that none can get in, when that is so of all', () => {
    fc.assert(
      fc.property(group, (all) => {
        const isOver = all.every(({ seen }) => seen.is === 'superseded')
        expect(seenTogether(all).seen.is === 'superseded').toBe(isOver)
      }),
    )
  })

  it('has the newest sent again, and no other', () => {
    fc.assert(
      fc.property(group, (all) => {
        const { hash, seen } = seenTogether(all)
        if (seen.is === 'unknown') expect(hash).toBe(all[0].hash)
      }),
    )
  })

  it('is nothing at all when one of them could not be looked for, unless another one is in a block', () => {
    fc.assert(
      fc.property(group, (all) => {
        fc.pre(all.some(({ seen }) => seen.is === 'unreachable'))
        expect(['unreachable', 'included', 'refused']).toContain(seenTogether(all).seen.is)
      }),
    )
  })
})
