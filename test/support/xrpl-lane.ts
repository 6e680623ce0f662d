import { expect } from 'vitest'
import type { Lane } from '../../src/anchors/pursuit/lane.ts'
import { OpenWork } from '../../src/anchors/pursuit/open-work.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { Ledger } from '../../src/ledgers/ledger.ts'
import { readTransaction } from '../../src/ledgers/xrpl/xrpl-transaction.ts'
import { AnchoredRows, cidOf } from './anchored-rows.ts'
import { HandClock } from './hand-clock.ts'
import { StepKill } from './step-kill.ts'
import { LaneRows, testedLane } from './tested-lane.ts'
import type { Twins } from './twins.ts'
import { openXrplLedger } from './xrpl-ledger.ts'
import { Chain } from './xrpl-node/chain.ts'
import { XrplNode } from './xrpl-node/xrpl-node.ts'

/** Ledgers follow each other every four seconds. */
const ledgerUs = 4_000_000

/** Networks have ids of their own, so that several can share a state. */
let networks = 2_000

/** A lane on the adapter and a node of its own, by a hand clock; it is killed at one of its steps, and started anew. */
export class XrplLane implements AsyncDisposable {
  readonly node: XrplNode
  /** Asked in this order. */
  #nodes: readonly XrplNode[]
  readonly clock = new HandClock()
  readonly failures: unknown[] = []
  readonly #twins: Twins
  readonly #rows: AnchoredRows
  readonly #written: LaneRows
  #kill: StepKill
  #rest = Promise.withResolvers<void>()
  #stopping = new AbortController()
  #running: Promise<void> | undefined
  #lane: Lane | undefined
  #ledger: Ledger | undefined
  isKilled = false

  /** @param killAt the number of the step, from 0 on: each call of ledger and desk has one before and one after its effect; infinite for none */
  static async open(twins: Twins, killAt = Number.POSITIVE_INFINITY): Promise<XrplLane> {
    const lane = new XrplLane(twins, await XrplNode.start(new Chain(++networks)), killAt)
    lane.chain.fund(await lane.account(), 100_000_000n)
    return lane
  }

  private constructor(twins: Twins, node: XrplNode, killAt: number) {
    this.node = node
    this.#nodes = [node]
    this.#twins = twins
    this.#kill = new StepKill(killAt)
    this.#written = new LaneRows(twins, this.network)
    this.#rows = new AnchoredRows(twins.tests, twins.tests)
    this.clock.atUs = systemClock.nowUs()
  }

  get chain(): Chain {
    return this.node.chain
  }

  get network(): string {
    return `xrpl:${this.chain.rules.networkId}`
  }

  async account(): Promise<string> {
    return (await openXrplLedger(this.node)).account
  }

  get figures() {
    return this.#lane?.figures()
  }

  /** Adds a node of the same chain, to be asked before the other one; to be called before anything settles. */
  async addNodeBefore(): Promise<XrplNode> {
    const node = await XrplNode.start(this.chain)
    this.#nodes = [node, ...this.#nodes]
    return node
  }

  /** Something to be anchored. Resolves with its id. */
  async plan(name: string): Promise<string> {
    const { network } = this
    const uri = `ipfs://${cidOf(name)}`
    return await this.#rows.plan([cidOf(name)], { kind: 'nft', network, uri })
  }

  /** Resolves when the lane has nothing more to do for now, killed and started again if it comes to that. */
  async settle(): Promise<void> {
    // A lane that has nothing to do asks no ledger, and there is no sign of its rest.
    if (!this.#lane && (await this.#written.areAtRest())) return
    this.#rest = Promise.withResolvers()
    if (this.#lane) this.#lane.wake()
    else this.#start()
    const isResting = await Promise.race([
      this.#rest.promise.then(() => true),
      this.#kill.met.then(() => false),
    ])
    if (!isResting) {
      await this.#end()
      await this.settle()
    }
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

  /** Ledgers come, one after the other, until nothing is under way. */
  async finish(): Promise<void> {
    for (let ledgers = 0; ledgers < 200; ledgers++) {
      await this.pass(ledgerUs, { before: () => this.chain.close() })
      if (await this.#written.areAtRest()) return
    }
    throw new Error(`it never ends: ${JSON.stringify([await this.anchors(), this.figures])}`)
  }

  async anchors() {
    return await this.#written.anchors()
  }

  async transactions() {
    return await this.#written.transactions()
  }

  /** Transactions of ours that are on the ledger, and have done what they say. */
  async done() {
    const account = await this.account()
    return this.chain.validated().flatMap(({ blob, meta }) => {
      const read = readTransaction(blob.text)
      const isOurs = read?.deed && read.account === account
      return isOurs && meta.TransactionResult === 'tesSUCCESS' ? [read] : []
    })
  }

  /**
   * What must hold at the end, however it came to that: each intent is in one transaction on the ledger, which its anchor
   * names, and whose inclusion is kept. None is open.
   *
   * @param failed intents that the ledger refuses
   */
  async expectAllOnce(failed: readonly string[] = []): Promise<void> {
    const done = await this.done()
    const transactions = new Map((await this.transactions()).map((one) => [one.hash, one]))
    for (const { id, state, transaction_hash: hash } of await this.anchors()) {
      const there = done.filter(({ deed }) => deed?.intentId === id).map((one) => one.hash)
      const isFailed = failed.includes(id)
      expect([state, there]).toEqual(isFailed ? ['failed', []] : ['completed', [hash]])
      if (!isFailed) expect(transactions.get(hash ?? '')?.inclusion).toContain('tokenId')
    }
    expect([...transactions.values()].filter(({ state }) => state === 'open')).toEqual([])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end()
    for (const node of this.#nodes) await node[Symbol.asyncDispose]()
  }

  #start(): void {
    const work = new OpenWork(this.#twins.tests.state, this.network)
    const lane = testedLane({
      twins: this.#twins,
      network: this.network,
      kill: this.#kill,
      clock: this.clock,
      work,
      open: async () => {
        const endpoints = this.#nodes.map(({ endpoint }) => endpoint)
        const heights = await work.heights()
        this.#ledger = await openXrplLedger(this.node, { endpoints, heights })
        return this.#resting(this.#ledger)
      },
      onFailure: (error) => this.failures.push(error),
    })
    this.#lane = lane
    this.#stopping = new AbortController()
    this.#running = lane.run(this.#stopping.signal)
  }

  /** Leaves the lane as a crash does, where it was killed: it never ends by itself, and does nothing any more. */
  async #end(): Promise<void> {
    this.#stopping.abort()
    this.#lane?.wake()
    const isKilled = await Promise.race([
      this.#kill.met.then(() => true),
      this.#running?.then(() => false),
    ])
    this.#lane = undefined
    await this.#ledger?.close()
    if (!isKilled) return
    this.isKilled = true
    this.#kill = new StepKill()
  }

  /** The ledger, which tells when the lane waits for it: time stands meanwhile. */
  #resting(ledger: Ledger): Ledger {
    return new Proxy(ledger, {
      get: (_, name: keyof Ledger) => {
        const member = ledger[name]
        if (name === 'changed') return (signal: AbortSignal) => this.#changed(signal)
        return typeof member === 'function' ? member.bind(ledger) : member
      },
    })
  }

  async #changed(signal: AbortSignal): Promise<void> {
    this.#rest.resolve()
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve())
    })
  }
}
