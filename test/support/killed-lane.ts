import { expect } from 'vitest'
import type { AnchorState, NewAnchor } from '../../src/anchors/intents/anchor.ts'
import type { AnchorDesk, DeskRequest } from '../../src/anchors/pursuit/desk.ts'
import { Lane } from '../../src/anchors/pursuit/lane.ts'
import { OpenWork } from '../../src/anchors/pursuit/open-work.ts'
import { StateAnchorDesk } from '../../src/anchors/pursuit/state-anchor-desk.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { KeyRole } from '../../src/ledgers/keys/ledger-key.ts'
import type { Ledger } from '../../src/ledgers/ledger.ts'
import type { StateDatabase } from '../../src/storage/state/database.ts'
import { anchoredKinds } from '../../src/twins/anchored/anchored-kinds.ts'
import { AnchoredRows, cidOf } from './anchored-rows.ts'
import { HandClock } from './hand-clock.ts'
import { ScriptedLedger } from './scripted-ledger.ts'
import { ScriptedNode } from './scripted-node.ts'
import type { Twins } from './twins.ts'

const dayUs = 86_400_000_000

/** Steps after which a killed lane does nothing any more: each call of the ledger and of the desk has one before and one after its effect. */
class Kill {
  readonly #at: number
  readonly #killed = Promise.withResolvers<void>()
  readonly #acting = new Set<Promise<unknown>>()
  #steps = 0

  constructor(at: number) {
    this.#at = at
  }

  /** Resolves once the step is met. */
  get killed(): Promise<void> {
    return this.#killed.promise
  }

  /** Resolves when whatever other lanes were in the middle of has had its effect. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#acting)
  }

  async around<Result>(act: () => Promise<Result>): Promise<Result> {
    await this.#pass()
    const acting = act()
    this.#acting.add(acting)
    try {
      return await acting
    } finally {
      this.#acting.delete(acting)
      await this.#pass()
    }
  }

  async #pass(): Promise<void> {
    if (this.#steps++ < this.#at) return
    this.#killed.resolve()
    await new Promise<never>(() => undefined)
  }
}

/** A lane that has nothing to do does not even open its ledger: it rests all the same. */
class WatchedWork extends OpenWork {
  readonly #ledger: ScriptedLedger

  constructor(state: StateDatabase, ledger: ScriptedLedger, role: KeyRole) {
    super(state, ledger.network, role)
    this.#ledger = ledger
  }

  override async isThere(): Promise<boolean> {
    const is = await super.isThere()
    if (!is) this.#ledger.rest()
    return is
  }
}

const notify = async () => () => undefined

let made = 0

/** Accounts that have a lane each, and what their network is called. */
interface Accounts {
  readonly roles?: readonly KeyRole[]
  readonly family?: string
}

/** A lane on a scripted ledger, by a hand clock, or one for each account; they are killed at one of their steps, and started anew. */
export class KilledLane {
  readonly node = new ScriptedNode()
  readonly clock = new HandClock()
  /** That of the issuer. */
  readonly ledger: ScriptedLedger
  readonly rows: AnchoredRows
  readonly failures: unknown[] = []
  readonly #twins: Twins
  readonly network: string
  readonly #ledgers: ReadonlyMap<KeyRole, ScriptedLedger>
  #kill: Kill
  /** Whether it was killed: from then on it is not any more. */
  isKilled = false
  #stopping = new AbortController()
  #lanes: readonly Lane[] = []
  #running: Promise<unknown> = Promise.resolve()

  /** @param killAt the number of the step, from 0 on; infinite for none */
  constructor(
    twins: Twins,
    killAt = Number.POSITIVE_INFINITY,
    { roles = [], family = 'scripted' }: Accounts = {},
  ) {
    this.#twins = twins
    this.network = `${family} ${++made}`
    this.clock.atUs = systemClock.nowUs()
    this.ledger = new ScriptedLedger(this.node, this.network, this.clock)
    const others = roles.map((role) => {
      const account = `${this.network} ${role}`
      return [role, new ScriptedLedger(this.node, this.network, this.clock, account)] as const
    })
    this.#ledgers = new Map([['issuer', this.ledger], ...others])
    this.rows = new AnchoredRows(twins.tests, twins.tests)
    this.#kill = new Kill(killAt)
  }

  get figures() {
    return this.#lanes[0]?.figures()
  }

  /** Something to be anchored. Resolves with its id. */
  async plan(name: string, wanted: Partial<NewAnchor> = {}): Promise<string> {
    const network = this.network
    return await this.rows.plan([cidOf(name)], { kind: 'nft', network, ...wanted })
  }

  /** Has what is to be anchored of a resource go here. */
  async take(resourceId: string): Promise<void> {
    const network = this.network
    const { state } = this.#twins.tests
    const anchors = state.updateTable('anchors').set({ network })
    await this.#twins.tests.commit(anchors.where('resource_id', '=', resourceId))
  }

  /** Resolves when the lane has nothing more to do for now, killed and started again if it comes to that. */
  async settle(): Promise<void> {
    for (const ledger of this.#ledgers.values()) ledger.stir()
    if (this.#lanes.length > 0) this.#wake()
    else this.#start()
    const resting = [...this.#ledgers.values()].map((ledger) => ledger.resting)
    // It may also be killed while nobody looks: it goes by timers, too.
    const isResting = await Promise.race([
      this.#kill.killed.then(() => false),
      Promise.all(resting).then(() => true),
    ])
    if (!isResting) await this.restart()
    expect(this.failures).toEqual([])
  }

  /** Lets time pass, in portions; before each something may be done. */
  async pass(us: number, { everyUs = us, before = () => {} } = {}): Promise<void> {
    for (let passed = 0; passed < us; passed += everyUs) {
      before()
      this.clock.atUs += everyUs
      await this.settle()
    }
  }

  /** Blocks come, one after the other, until nothing is under way. */
  async finish(): Promise<void> {
    for (let blocks = 0; blocks < 100; blocks++) {
      await this.pass(12_000_000, { before: () => this.node.mine() })
      if (await this.#isAtRest()) return
    }
    throw new Error(`it never ends: ${JSON.stringify(await this.anchors())}`)
  }

  /** Leaves the lane as a crash does, and starts another one. */
  async restart(): Promise<void> {
    await this.#end()
    await this.settle()
  }

  async anchors() {
    const anchors = this.#twins.tests.state.selectFrom('anchors').selectAll()
    return await anchors.where('network', '=', this.network).orderBy('number').execute()
  }

  async transactions() {
    const all = this.#twins.tests.state.selectFrom('anchor_transactions').selectAll()
    const ours = all.where('network', '=', this.network)
    return await ours.orderBy('sequence').orderBy('attempt').execute()
  }

  async stateOf(id: string): Promise<AnchorState> {
    const one = (await this.anchors()).find((anchor) => anchor.id === id)
    return one?.state as AnchorState
  }

  /**
   * What must hold at the end, however it came to that: each intent is in one transaction on the chain, which its anchor names,
   * and whose inclusion is kept. What the ledger refuses has failed. None is open.
   */
  async expectAllOnce(): Promise<void> {
    const { reverted, refused } = this.ledger
    const chain = this.node.onChain()
    const transactions = new Map((await this.transactions()).map((one) => [one.hash, one]))
    for (const { id, state, transaction_hash: hash } of await this.anchors()) {
      const isFailed = reverted.has(id) || refused.has(id)
      const there = chain.filter(({ blob }) => blob.includes(id)).map((one) => one.hash)
      expect([state, there]).toEqual(isFailed ? ['failed', []] : ['completed', [hash]])
      if (isFailed) continue
      const row = transactions.get(hash ?? '')
      const { height } = JSON.parse(row?.inclusion ?? '{}') as { readonly height?: number }
      expect([row?.state, height]).toEqual(['final', this.node.heightOf(hash ?? '')])
    }
    expect([...transactions.values()].filter(({ state }) => state === 'open')).toEqual([])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end()
  }

  async #isAtRest(): Promise<boolean> {
    const open = (await this.transactions()).some(({ state }) => state === 'open')
    const anchors = await this.anchors()
    return !open && anchors.every(({ state }) => state === 'completed' || state === 'failed')
  }

  /** The ledger as one of the other accounts sees it. */
  ledgerOf(role: KeyRole): ScriptedLedger {
    const ledger = this.#ledgers.get(role)
    if (!ledger) throw new Error(`there is no ${role}`)
    return ledger
  }

  #start(): void {
    const kill = this.#kill
    const kinds = anchoredKinds({ lifecycle: this.#twins.lifecycle, clock: this.clock })
    const { state } = this.#twins.tests
    const desk = new StateAnchorDesk({ state, clock: this.clock, kinds, notify })
    const exchange = async (request: DeskRequest) => {
      const answer = await kill.around(() => desk.exchange(request))
      if (answer.isMore) this.#wake()
      return answer
    }
    this.#lanes = [...this.#ledgers].map(([role, ledger]) => this.#laneOf(role, ledger, exchange))
    this.#stopping = new AbortController()
    const { signal } = this.#stopping
    this.#running = Promise.all(this.#lanes.map((lane) => lane.run(signal)))
  }

  #laneOf(role: KeyRole, ledger: ScriptedLedger, exchange: AnchorDesk['exchange']): Lane {
    const kill = this.#kill
    return new Lane({
      network: this.network,
      open: async () => killable(ledger, kill),
      work: new WatchedWork(this.#twins.tests.state, ledger, role),
      desk: { exchange },
      clock: this.clock,
      rules: { patienceUs: dayUs, retryUsMin: 1_000_000, retryUsMax: 60_000_000 },
      random: () => 0.5,
      onFailure: (error) => this.failures.push(error),
    })
  }

  #wake(): void {
    for (const lane of this.#lanes) lane.wake()
  }

  /** One that is killed never ends by itself, and does nothing any more. */
  async #end(): Promise<void> {
    this.#stopping.abort()
    this.#wake()
    const isKilled = await Promise.race([
      this.#kill.killed.then(() => true),
      this.#running.then(() => false),
    ])
    this.#lanes = []
    if (!isKilled) return
    await this.#kill.settled()
    this.isKilled = true
    this.#kill = new Kill(Number.POSITIVE_INFINITY)
  }
}

/** The calls of a ledger that a lane can be killed around. */
const calls = ['prepare', 'sign', 'betterTerms', 'nextSequence', 'submit', 'sight', 'find'] as const

function killable(ledger: ScriptedLedger, kill: Kill): Ledger {
  const around = (name: (typeof calls)[number]) => ({
    value: async (...given: readonly unknown[]) =>
      await kill.around(async () => {
        const call = ledger[name] as (...all: readonly unknown[]) => Promise<unknown>
        return await call.apply(ledger, [...given])
      }),
  })
  const own = ['changed', 'close', 'mappingOf'] as const
  return Object.create(ledger, {
    ...Object.fromEntries(calls.map((name) => [name, around(name)])),
    ...Object.fromEntries(own.map((name) => [name, { value: ledger[name].bind(ledger) }])),
  }) as Ledger
}
