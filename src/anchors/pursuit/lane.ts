import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../core/errors.ts'
import { race } from '../../core/race.ts'
import type { FoundTransaction, Ledger } from '../../ledgers/ledger.ts'
import { LedgerUnreachable } from '../../ledgers/ledger.ts'
import { nextStep } from '../intents/next-step.ts'
import { fillerDeed, type PlannedDeed, planDeeds } from './deeds.ts'
import type { MovedAnchors, SignedAnchors } from './desk.ts'
import { Flights } from './flights.ts'
import { graceUsMax, type LaneFigures, type LaneNeeds } from './lane-needs.ts'
import type { OpenTransaction, WaitingAnchor } from './open-work.ts'
import { compareSequences, noFacts } from './sequences.ts'

/** Anchors that are looked at in a round: a full batch, and as many transactions. */
const waitingMax = 2_000

/** Anchors that are given up in one transaction. */
const overdueMax = 500

/** Wait after a failure of ours: it doubles with each, up to the other. */
const afterFailureUs = 1_000_000
const afterFailureUsMax = 16_000_000

/** Timers of Node do not take more. */
const sleepMsMax = 60_000

/**
 * Everything that goes onto one network from one account, strictly in order. Nothing that is remembered here is needed
 * after a crash: what was signed is in the state before it is sent, and everything else is asked again.
 */
export class Lane {
  readonly #needs: LaneNeeds
  readonly #flights: Flights
  /** What was begun before is taken to have been begun then. */
  readonly #begunAtUsMin: number
  #ledger: Ledger | undefined
  /** The sequence of the next transaction; undefined before rows and ledger were compared. */
  #next: number | undefined
  /** Anchors up to this number may be on the ledger, although no row says so. */
  #unsureUpTo = 0
  #failures = 0
  #faults = 0
  #problem: string | undefined
  #signed = 0
  #completed = 0
  #inFlight = 0
  #woken = Promise.withResolvers<void>()

  constructor(needs: LaneNeeds) {
    this.#needs = needs
    const { clock, rules } = needs
    const graceUs = Math.min(graceUsMax, rules.patienceUs)
    this.#begunAtUsMin = clock.steadyUs() + graceUs - rules.patienceUs
    this.#flights = new Flights(needs, this.#begunAtUsMin)
  }

  /** There may be something to do. */
  wake(): void {
    this.#woken.resolve()
  }

  /** The ledger; undefined while it could not be opened. */
  get ledger(): Ledger | undefined {
    return this.#ledger
  }

  figures(): LaneFigures {
    const { network } = this.#needs
    const counts = { signed: this.#signed, completed: this.#completed, inFlight: this.#inFlight }
    return { network, problem: this.#problem, ...counts }
  }

  /** Does what is to be done until the signal says to stop. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, onFailure } = this.#needs
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers()
      let dueAtUs: number
      try {
        dueAtUs = await this.#round()
        this.#faults = 0
      } catch (error) {
        if (signal.aborted) return
        this.#next = undefined
        onFailure(error)
        const waitUs = Math.min(afterFailureUsMax, afterFailureUs * 2 ** this.#faults++)
        dueAtUs = clock.steadyUs() + waitUs
      }
      await this.#rest(dueAtUs, signal)
    }
  }

  async close(): Promise<void> {
    await this.#ledger?.close()
  }

  /** Resolves with when to come again, in steady microseconds. */
  async #round(): Promise<number> {
    const { network, work, desk } = this.#needs
    if (this.#ledger === undefined && !(await work.isThere())) return Number.POSITIVE_INFINITY
    const ledger = await this.#opened()
    if (ledger === undefined) return await this.#unreachable()
    const { account } = ledger
    const open = await work.transactions(account, ledger.inFlightMax)
    const isWanted = open.some(({ state }) => state !== 'error')
    const signed = await this.#signWaiting(ledger, open)
    const flying = [...open, ...signed]
    this.#inFlight = flying.length
    // What all have given up on is sent again only for the sake of what comes after it.
    if (!isWanted && signed.length === 0) return this.#hasFound ? 0 : this.#waitForBatch
    const flown = await this.#flights.pursue(ledger, flying)
    const { transactions, moved } = flown
    if (transactions.length + moved.length > 0) {
      await desk.exchange({ network, account, signed: [], transactions, moved })
    }
    this.#completed += transactions.filter(({ to }) => to === 'final').length
    if (flown.problem !== undefined) {
      this.#problem = flown.problem
      return await this.#unreachable()
    }
    this.#problem = undefined
    if (flown.isOutOfStep) {
      this.#next = undefined
      return this.#retryAtUs()
    }
    this.#failures = 0
    const isMore = this.#hasFound || transactions.length + signed.length > 0
    return isMore ? 0 : Math.min(flown.dueAtUs, this.#waitForBatch)
  }

  #waitForBatch = Number.POSITIVE_INFINITY
  /** Whether something was found on the ledger in this round: the next one pursues it. */
  #hasFound = false

  /** Undefined when the ledger cannot be asked. */
  async #opened(): Promise<Ledger | undefined> {
    const { open } = this.#needs
    try {
      this.#ledger ??= await open()
      if (this.#next === undefined) await this.#compare(this.#ledger)
      return this.#ledger
    } catch (error) {
      if (this.#ledger !== undefined && !(error instanceof LedgerUnreachable)) throw error
      this.#problem = messageOf(error)
      return undefined
    }
  }

  async #compare(ledger: Ledger): Promise<void> {
    const { work } = this.#needs
    const { next, holes } = await compareSequences(this.#needs, ledger)
    for (const sequence of holes) {
      const planned = { deed: fillerDeed(sequence, ledger.account), anchors: [] }
      const filler = await signedDeed(ledger, planned, sequence)
      if ('refused' in filler) throw new LedgerUnreachable(filler.refused)
      await this.#store(ledger, [filler])
    }
    this.#unsureUpTo = await work.newest()
    this.#next = next
  }

  /** Signs what waits, as far as there is room. Resolves with what is to be sent of it. */
  async #signWaiting(
    ledger: Ledger,
    open: readonly OpenTransaction[],
  ): Promise<readonly OpenTransaction[]> {
    const { work, clock } = this.#needs
    this.#waitForBatch = Number.POSITIVE_INFINITY
    this.#hasFound = false
    const room = ledger.inFlightMax - open.length
    if (room <= 0) return []
    const waiting = await this.#withoutFound(ledger, await work.waiting(waitingMax))
    const { batchWaitUs } = ledger
    const nowUs = clock.steadyUs()
    const { deeds, dueAtUs } = planDeeds(waiting, { nowUs, batchWaitUs, room })
    this.#waitForBatch = dueAtUs
    const signed: SignedAnchors[] = []
    const refused: MovedAnchors[] = []
    const next = this.#next ?? 1
    for (const planned of deeds) {
      const one = await signedDeed(ledger, planned, next + signed.length)
      if ('refused' in one) refused.push(refusedAnchors(planned, one.refused))
      else signed.push(one)
    }
    const taken = await this.#store(ledger, signed, refused)
    this.#next = next + taken
    this.#signed += taken
    const stored = signed.slice(0, taken)
    for (const { transaction } of stored) this.#flights.expectToSend(transaction.hash)
    const codes = new Map(waiting.map(({ id, assetCode }) => [id, assetCode]))
    return stored.map(({ transaction: { hash, sequence: at }, intentId }) => ({
      hash,
      sequence: at,
      state: 'signed',
      begunAtUs: nowUs,
      assetCode: codes.get(intentId) ?? null,
    }))
  }

  async #store(
    ledger: Ledger,
    signed: readonly SignedAnchors[],
    moved: readonly MovedAnchors[] = [],
  ): Promise<number> {
    if (signed.length + moved.length === 0) return 0
    const { network, desk } = this.#needs
    const request = { network, account: ledger.account, signed, transactions: [], moved }
    const { taken } = await desk.exchange(request)
    return taken
  }

  /** Takes out what is on the ledger already, as a state that was restored does not know, and goes on with that. */
  async #withoutFound(
    ledger: Ledger,
    waiting: readonly WaitingAnchor[],
  ): Promise<readonly WaitingAnchor[]> {
    const unsure = waiting.filter((one) => one.isEarlier || one.number <= this.#unsureUpTo)
    if (unsure.length === 0) return waiting
    const found = await ledger.find(unsure.map(({ id }) => id))
    if (found.size === 0) return waiting
    await this.#adopt(ledger, unsure, found)
    return waiting.filter(({ id }) => !found.has(id))
  }

  async #adopt(
    ledger: Ledger,
    unsure: readonly WaitingAnchor[],
    found: ReadonlyMap<string, FoundTransaction>,
  ): Promise<void> {
    const { network, desk } = this.#needs
    const adopted = new Map<
      string,
      { of: FoundTransaction; anchors: { id: string; firstLeaf: number }[] }
    >()
    const others: string[] = []
    for (const { id, leaves } of unsure) {
      const of = found.get(id)
      if (of === undefined) continue
      const firstLeaf = of.deed.leaves.findIndex(({ intentId }) => intentId === id)
      const isSame = leaves.every(({ cid }, at) => of.deed.leaves[firstLeaf + at]?.cid === cid)
      if (!isSame) {
        others.push(id)
        continue
      }
      const one = adopted.get(of.hash) ?? { of, anchors: [] }
      one.anchors.push({ id, firstLeaf })
      adopted.set(of.hash, one)
    }
    const signed = [...adopted.values()].map(({ of: { deed, ...transaction }, anchors }) => ({
      transaction,
      intentId: deed.intentId,
      anchors,
      leaves: deed.leaves.map(({ cid }) => cid),
    }))
    const moved = others.length > 0 ? [anchoredOtherwise(others)] : []
    const request = { network, account: ledger.account, signed, transactions: [], moved }
    const { taken } = await desk.exchange(request)
    this.#hasFound = taken + others.length > 0
  }

  /** Gives up on what was tried for too long. Resolves with when to ask the ledger again. */
  async #unreachable(): Promise<number> {
    const { network, work, desk, clock, rules, random } = this.#needs
    this.#next = undefined
    const nowUs = clock.steadyUs()
    const seen = { is: 'unreachable', reason: this.#problem ?? 'it does not answer' } as const
    const jitter = random()
    const isEarly = nowUs - rules.patienceUs < this.#begunAtUsMin
    const overdue = isEarly ? [] : await work.overdue(nowUs - rules.patienceUs, overdueMax)
    const moved: MovedAnchors[] = []
    for (const { id, ...anchor } of overdue) {
      const step = nextStep({ ...anchor, failures: 0 }, seen, nowUs, { ...rules, jitter })
      const { state: to, statuses, failure } = step
      moved.push({
        of: { anchorIds: [id] },
        from: [anchor.state],
        to,
        statuses,
        facts: noFacts,
        failure,
      })
    }
    const account = this.#ledger?.account ?? ''
    if (moved.length > 0) {
      await desk.exchange({ network, account, signed: [], transactions: [], moved })
    }
    return moved.length === overdueMax ? 0 : this.#retryAtUs()
  }

  /** When to go on after one more failure. */
  #retryAtUs(): number {
    const { clock, rules, random } = this.#needs
    const nowUs = clock.steadyUs()
    const failures = this.#failures++
    const anchor = { state: 'waiting', isSigned: false, begunAtUs: nowUs, failures } as const
    const seen = { is: 'unreachable', reason: '' } as const
    return nextStep(anchor, seen, nowUs, { ...rules, jitter: random() }).dueAtUs
  }

  /** Until a time, or until there may be something to do. */
  async #rest(dueAtUs: number, signal: AbortSignal): Promise<void> {
    const waitMs = (dueAtUs - this.#needs.clock.steadyUs()) / 1_000
    if (waitMs <= 0) return
    const ending = new AbortController()
    const stop = () => ending.abort()
    signal.addEventListener('abort', stop)
    const options = { signal: ending.signal, ref: false }
    const changed = this.#ledger?.changed(ending.signal).then(() => this.#flights.expectChanges())
    const waits = [
      this.#woken.promise,
      sleep(Math.min(waitMs, sleepMsMax), undefined, options).catch(() => undefined),
      ...(changed && this.#inFlight > 0 ? [changed] : []),
    ]
    if (!signal.aborted) await race(waits)
    stop()
    signal.removeEventListener('abort', stop)
  }
}

/** Signs for a deed under the terms of now, or says why the ledger would never take it. */
async function signedDeed(
  ledger: Ledger,
  { deed, anchors }: PlannedDeed,
  sequence: number,
): Promise<SignedAnchors | { readonly refused: string }> {
  const prepared = await ledger.prepare(deed)
  if ('refused' in prepared) return prepared
  const transaction = await ledger.sign(deed, sequence, prepared.terms)
  return { transaction, intentId: deed.intentId, anchors }
}

/** No sequence was used for them. */
function refusedAnchors({ anchors }: PlannedDeed, reason: string): MovedAnchors {
  return {
    of: { anchorIds: anchors.map(({ id }) => id) },
    from: ['waiting'],
    to: 'failed',
    statuses: ['FAILED'],
    facts: noFacts,
    failure: { error: 'ledger_refused', message: reason },
  }
}

/** The ledger says something else of an intent than we do: it is never done again. */
function anchoredOtherwise(anchorIds: readonly string[]): MovedAnchors {
  return {
    of: { anchorIds },
    from: ['waiting'],
    to: 'failed',
    statuses: ['FAILED'],
    facts: noFacts,
    failure: {
      error: 'anchored_otherwise',
      message: 'the ledger has another content for it, from before the state was restored',
    },
  }
}
