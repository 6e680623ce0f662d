import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../core/errors.ts'
import { race } from '../../core/race.ts'
import { type Ledger, LedgerUnreachable } from '../../ledgers/ledger.ts'
import { nextStep } from '../intents/next-step.ts'
import type { MovedAnchors } from './desk.ts'
import type { Flown } from './findings.ts'
import { Flights } from './flights.ts'
import { graceUsMax, type LaneFigures, type LaneNeeds } from './lane-needs.ts'
import type { OpenTransaction } from './open-work.ts'
import { noFacts } from './sequences.ts'
import { type SignedNow, Signing } from './signing.ts'

/** Rows of open transactions that are looked at in a round: what waits to be final is among them. */
const openMax = 4_000

/** As often are rows and ledger compared while something waits for its block: a place before it may have come free. */
const comparedUs = 60_000_000

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
  readonly #signing: Signing
  /** What was begun before is taken to have been begun then. */
  readonly #begunAtUsMin: number
  #ledger: Ledger | undefined
  /** When something may be signed again, in steady microseconds. */
  #signsFromUs = 0
  #comparedAtUs = 0
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
    this.#signing = new Signing(needs)
  }

  /** There may be something to do. */
  wake(): void {
    this.#woken.resolve()
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
        this.#signing.forget()
        onFailure(error)
        const waitUs = Math.min(afterFailureUsMax, afterFailureUs * 2 ** this.#faults++)
        dueAtUs = clock.steadyUs() + waitUs
      }
      await this.#rest(dueAtUs, signal)
    }
  }

  /** Resolves with when to come again, in steady microseconds. */
  async #round(): Promise<number> {
    const { work, clock } = this.#needs
    if (this.#ledger === undefined && !(await work.isThere())) return Number.POSITIVE_INFINITY
    const ledger = await this.#opened()
    if (ledger === undefined) return await this.#unreachable()
    const before = await work.transactions(ledger.account, openMax)
    const now = await this.#sign(ledger, before)
    const open = [...before, ...now.open].sort((one, other) => one.sequence - other.sequence)
    this.#inFlight = open.length
    const isWanted = now.open.length > 0 || before.some(({ state }) => state !== 'error')
    // What all have given up on is sent again only for the sake of what comes after it.
    const flown = isWanted ? await this.#fly(ledger, open) : undefined
    if (flown?.problem !== undefined) {
      this.#problem = flown.problem
      return await this.#unreachable()
    }
    if (now.problem !== undefined) return await this.#held(now.problem, flown)
    if (clock.steadyUs() >= this.#signsFromUs) this.#problem = undefined
    if (flown?.hasGap) this.#signing.forget()
    if (flown?.isOutOfStep) {
      this.#signing.forget()
      return this.#retryAtUs()
    }
    if (this.#problem === undefined) this.#failures = 0
    const isMore = now.isMore || now.open.length > 0 || (flown?.transactions.length ?? 0) > 0
    return isMore ? 0 : Math.min(now.dueAtUs, flown?.dueAtUs ?? Number.POSITIVE_INFINITY)
  }

  /** Undefined when the ledger cannot be asked. */
  async #opened(): Promise<Ledger | undefined> {
    const { open, clock } = this.#needs
    try {
      this.#ledger ??= await open()
      if (this.#inFlight > 0 && clock.steadyUs() - this.#comparedAtUs >= comparedUs) {
        this.#signing.forget()
      }
      if (await this.#signing.compare(this.#ledger)) this.#comparedAtUs = clock.steadyUs()
      return this.#ledger
    } catch (error) {
      if (this.#ledger !== undefined && !(error instanceof LedgerUnreachable)) throw error
      this.#problem = messageOf(error)
      return undefined
    }
  }

  /** Signs what waits, as far as there is room. */
  async #sign(ledger: Ledger, open: readonly OpenTransaction[]): Promise<SignedNow> {
    if (this.#needs.clock.steadyUs() < this.#signsFromUs) {
      return { open: [], dueAtUs: this.#signsFromUs, isMore: false, problem: undefined }
    }
    const room = ledger.inFlightMax - this.#flights.countInNoBlock(open)
    try {
      const now = await this.#signing.sign(ledger, room)
      for (const transaction of now.open) this.#flights.expectToSend(transaction)
      this.#signed += now.open.length
      return now
    } catch (error) {
      if (!(error instanceof LedgerUnreachable)) throw error
      return { open: [], dueAtUs: Number.POSITIVE_INFINITY, isMore: false, problem: error.message }
    }
  }

  /** Pursues what is signed, and has written down what has become of it. */
  async #fly(ledger: Ledger, open: readonly OpenTransaction[]): Promise<Flown> {
    const { network, desk } = this.#needs
    const flown = await this.#flights.pursue(ledger, open)
    const { signed, transactions, moved } = flown
    if (signed.length + transactions.length + moved.length > 0) {
      const { account, heights } = ledger
      await desk.exchange({ network, account, signed, transactions, moved, heights })
    }
    this.#completed += transactions.filter(({ to }) => to === 'final').length
    return flown
  }

  /** Nothing more can be signed for now: what is signed already is pursued all the same. */
  async #held(problem: string, flown: Flown | undefined): Promise<number> {
    this.#problem = problem
    this.#signsFromUs = await this.#unreachable()
    return Math.min(this.#signsFromUs, flown?.dueAtUs ?? Number.POSITIVE_INFINITY)
  }

  /** Gives up on what was tried for too long. Resolves with when to ask the ledger again. */
  async #unreachable(): Promise<number> {
    const { network, work, desk, clock, rules, random } = this.#needs
    this.#signing.forget()
    const nowUs = clock.steadyUs()
    const seen = { is: 'unreachable', reason: this.#problem ?? 'it does not answer' } as const
    const jitter = random()
    const isEarly = nowUs - rules.patienceUs < this.#begunAtUsMin
    const overdue = isEarly ? [] : await work.overdue(nowUs - rules.patienceUs, overdueMax)
    const moved: MovedAnchors[] = []
    for (const { id, ...anchor } of overdue) {
      const pursued = { ...anchor, hasRivals: false, failures: 0 }
      const step = nextStep(pursued, seen, nowUs, { ...rules, jitter })
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
    const anchor = {
      state: 'waiting',
      isSigned: false,
      hasRivals: false,
      begunAtUs: nowUs,
      failures,
    } as const
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
