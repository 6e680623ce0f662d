import { expect } from 'vitest'
import type { AnchorState, NewAnchor } from '../../src/anchors/intents/anchor.ts'
import type { Lane } from '../../src/anchors/pursuit/lane.ts'
import { OpenWork } from '../../src/anchors/pursuit/open-work.ts'
import { systemClock } from '../../src/core/clock.ts'
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

  constructor(state: StateDatabase, network: string, ledger: ScriptedLedger) {
    super(state, network)
    this.#ledger = ledger
  }

  override async isThere(): Promise<boolean> {
    const is = await super.isThere()
    if (!is) this.#ledger.rest()
    return is
  }
}

let made = 0

/** A lane on a scripted ledger, by a hand clock; it is killed at one of its steps, and started anew. */
export class KilledLane {
  readonly node = new ScriptedNode()
  readonly clock = new HandClock()
  readonly ledger: ScriptedLedger
  readonly rows: AnchoredRows
  readonly failures: unknown[] = []
  readonly #twins: Twins
  readonly #network = `scripted ${++made}`
  readonly #rows: LaneRows
  #kill: StepKill
  /** Whether it was killed: from then on it is not any more. */
  isKilled = false
  #stopping = new AbortController()
  #lane: Lane | undefined
  #running: Promise<void> | undefined

  /** @param killAt the number of the step, from 0 on; infinite for none */
  constructor(twins: Twins, killAt = Number.POSITIVE_INFINITY) {
    this.#twins = twins
    this.clock.atUs = systemClock.nowUs()
    this.ledger = new ScriptedLedger(this.node, this.#network, this.clock)
    this.rows = new AnchoredRows(twins.tests, twins.tests)
    this.#rows = new LaneRows(twins, this.#network)
    this.#kill = new StepKill(killAt)
  }

  get figures() {
    return this.#lane?.figures()
  }

  /** Something to be anchored. Resolves with its id. */
  async plan(name: string, wanted: Partial<NewAnchor> = {}): Promise<string> {
    const network = this.#network
    return await this.rows.plan([cidOf(name)], { kind: 'nft', network, ...wanted })
  }

  /** Has what is to be anchored of a resource go here. */
  async take(resourceId: string): Promise<void> {
    const network = this.#network
    const { state } = this.#twins.tests
    const anchors = state.updateTable('anchors').set({ network })
    await this.#twins.tests.commit(anchors.where('resource_id', '=', resourceId))
  }

  /** Resolves when the lane has nothing more to do for now, killed and started again if it comes to that. */
  async settle(): Promise<void> {
    this.ledger.stir()
    if (this.#lane) this.#lane.wake()
    else this.#start()
    // It may also be killed while nobody looks: it goes by timers, too.
    const isResting = await Promise.race([
      this.#kill.met.then(() => false),
      this.ledger.resting.then(() => true),
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

  #start(): void {
    const lane = testedLane({
      twins: this.#twins,
      network: this.#network,
      kill: this.#kill,
      clock: this.clock,
      open: async () => this.ledger,
      work: new WatchedWork(this.#twins.tests.state, this.#network, this.ledger),
      onFailure: (error) => this.failures.push(error),
    })
    this.#lane = lane
    this.#stopping = new AbortController()
    this.#running = lane.run(this.#stopping.signal)
  }

  /** One that is killed never ends by itself, and does nothing any more. */
  async #end(): Promise<void> {
    this.#stopping.abort()
    this.#lane?.wake()
    const isKilled = await Promise.race([
      this.#kill.met.then(() => true),
      this.#running?.then(() => false),
    ])
    this.#lane = undefined
    if (!isKilled) return
    this.isKilled = true
    this.#kill = new StepKill()
  }
}
