import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../../core/clock.ts'
import type { LedgerSettings } from '../../core/ledger-settings.ts'
import { race } from '../../core/race.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import {
  accountsOf,
  type LedgerLook,
  lookAtLedger,
  notAskedYet,
  ownAccounts,
} from './ledger-look.ts'

/** How long a start waits for nodes, all at once: whoever comes later is shown as soon as it has answered. */
const startMs = 500

/** How long whoever asks for ledgers waits for nodes at most, before the last look is good enough. */
const freshMs = 2_000

/** A look that is younger is good enough. */
const youngMs = 5_000

/** How long a node may take for one question. */
const timeoutMs = 5_000

const everyMs = 60_000

export interface LedgerWatchNeeds {
  readonly state: StateDatabase
  readonly ledgers: readonly LedgerSettings[]
  /** Hears of each round of looks. */
  readonly onLooks: (looks: readonly LedgerLook[]) => Promise<void>
  readonly onFailure: (error: unknown) => void
  readonly everyMs?: number
}

/** Looks at the nodes of all ledgers that are set, every minute and when somebody asks. */
export class LedgerWatch {
  readonly #needs: LedgerWatchNeeds
  readonly #looks: LedgerLook[]
  readonly #spent = new Map<string, bigint>()
  readonly #stopping = new AbortController()
  #lookedMs = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(needs: LedgerWatchNeeds) {
    this.#needs = needs
    this.#looks = needs.ledgers.map(notAskedYet)
  }

  /** What was seen last, of each ledger that is set. */
  get looks(): readonly LedgerLook[] {
    return this.#looks
  }

  /** What the balances of accounts have gone down by since the start, by their networks, in the smallest unit. */
  get spent(): ReadonlyMap<string, bigint> {
    return this.#spent
  }

  /** Begins. Resolves when all nodes have answered, and half a second later at the latest. */
  async start(): Promise<void> {
    if (this.#looks.length === 0) return
    this.#timer = setInterval(() => void this.#look(), this.#needs.everyMs ?? everyMs)
    this.#timer.unref()
    await this.#within(startMs)
  }

  /** The newest looks that can be had within two seconds. */
  async fresh(): Promise<readonly LedgerLook[]> {
    const isYoung = monotonicMs() - this.#lookedMs < youngMs
    if (this.#looks.length > 0 && !isYoung) await this.#within(freshMs)
    return this.#looks
  }

  /** What is wrong now, by the names that a health check has for them. */
  get problems(): Readonly<Record<string, string>> {
    const wrong = this.#looks.flatMap(({ settings, problem }) =>
      problem === undefined ? [] : [[`ledger ${settings.network}`, problem] as const],
    )
    return Object.fromEntries(wrong)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopping.abort()
    await this.#looking
  }

  async #within(ms: number): Promise<void> {
    const patient = new AbortController()
    const late = sleep(ms, undefined, { signal: patient.signal }).catch(() => undefined)
    try {
      await race([this.#look(), late])
    } finally {
      patient.abort()
    }
  }

  /** One round at a time. What fails in it is told of, and nobody waits for it in vain. */
  async #look(): Promise<void> {
    this.#looking ??= this.#round().finally(() => {
      this.#looking = undefined
    })
    await this.#looking
  }

  async #round(): Promise<void> {
    const { ledgers, onLooks, onFailure } = this.#needs
    try {
      await Promise.all(ledgers.map((settings, at) => this.#lookAt(settings, at)))
      this.#lookedMs = monotonicMs()
      await onLooks(this.#looks)
    } catch (error) {
      onFailure(error)
    }
  }

  async #lookAt(settings: LedgerSettings, at: number): Promise<void> {
    const { network } = settings
    const accounts = await ownAccounts(this.#needs.state, network)
    const look = await lookAtLedger(settings, accounts, {
      timeoutMs,
      signal: this.#stopping.signal,
    })
    const before = this.#looks[at]?.figures?.balances
    for (const { role, balance } of accountsOf(look)) {
      const gone = (before?.[role] ?? 0n) - (balance ?? before?.[role] ?? 0n)
      if (gone > 0n) this.#spent.set(network, (this.#spent.get(network) ?? 0n) + gone)
    }
    this.#looks[at] = look
  }
}
