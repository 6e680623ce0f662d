import { expect } from 'vitest'
import type { AnchorState, NewAnchor } from '../../src/anchors/intents/anchor.ts'
import type { Lane } from '../../src/anchors/pursuit/lane.ts'
import { OpenWork } from '../../src/anchors/pursuit/open-work.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { KeyRole } from '../../src/ledgers/keys/ledger-key.ts'
import type { StateDatabase } from '../../src/storage/state/database.ts'
import { AnchoredRows, cidOf } from './anchored-rows.ts'
import { HandClock } from './hand-clock.ts'
import { ScriptedLedger } from './scripted-ledger.ts'
import { ScriptedNode } from './scripted-node.ts'
import { StepKill } from './step-kill.ts'
import { LaneRows, testedLane } from './tested-lane.ts'
import type { Twins } from './twins.ts'

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
  readonly #rows: LaneRows
  #kill: StepKill
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
    this.#rows = new LaneRows(twins, this.network)
    this.#kill = new StepKill(killAt)
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
      this.#kill.met.then(() => false),
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
      if (await this.#rows.areAtRest()) return
    }
    throw new Error(`it never ends: ${JSON.stringify(await this.anchors())}`)
  }

  /** Leaves the lane as a crash does, and starts another one. */
  async restart(): Promise<void> {
    await this.#end()
    await this.settle()
  }

  async anchors() {
    return await this.#rows.anchors()
  }

  async transactions() {
    return await this.#rows.transactions()
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

  /** The ledger as one of the other accounts sees it. */
  ledgerOf(role: KeyRole): ScriptedLedger {
    const ledger = this.#ledgers.get(role)
    if (!ledger) throw new Error(`there is no ${role}`)
    return ledger
  }

  #start(): void {
    this.#lanes = [...this.#ledgers].map(([role, ledger]) => this.#laneOf(role, ledger))
    this.#stopping = new AbortController()
    const { signal } = this.#stopping
    this.#running = Promise.all(this.#lanes.map((lane) => lane.run(signal)))
  }

  #laneOf(role: KeyRole, ledger: ScriptedLedger): Lane {
    return testedLane({
      twins: this.#twins,
      network: this.network,
      kill: this.#kill,
      onMore: () => this.#wake(),
      clock: this.clock,
      open: async () => ledger,
      work: new WatchedWork(this.#twins.tests.state, ledger, role),
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
      this.#kill.met.then(() => true),
      this.#running.then(() => false),
    ])
    this.#lanes = []
    if (!isKilled) return
    await this.#kill.settled()
    this.isKilled = true
    this.#kill = new StepKill()
  }
}
