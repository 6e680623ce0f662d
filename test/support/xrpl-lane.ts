import { expect } from 'vitest'
import type { Lane } from '../../src/anchors/pursuit/lane.ts'
import { figuresByNetwork } from '../../src/anchors/pursuit/lanes-together.ts'
import { OpenWork } from '../../src/anchors/pursuit/open-work.ts'
import { systemClock } from '../../src/core/clock.ts'
import { type KeyRole, keyRoles } from '../../src/ledgers/keys/ledger-key.ts'
import { type Ledger, LedgerUnreachable } from '../../src/ledgers/ledger.ts'
import { isDone } from '../../src/ledgers/xrpl/engine-results.ts'
import { readTransaction } from '../../src/ledgers/xrpl/xrpl-transaction.ts'
import type { StateDatabase } from '../../src/storage/state/database.ts'
import { AssetStore } from '../../src/twins/assets/asset-store.ts'
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

/** An account without work does not even open its ledger: it rests all the same. */
class WatchedWork extends OpenWork {
  readonly #onRest: () => void

  constructor(state: StateDatabase, network: string, role: KeyRole, onRest: () => void) {
    super(state, network, role)
    this.#onRest = onRest
  }

  override async isThere(): Promise<boolean> {
    const is = await super.isThere()
    if (!is) this.#onRest()
    return is
  }
}

/**
 * The lanes of both accounts, on the adapter and a node of its own, by a hand clock; they are killed together at one of their steps,
 * and started anew.
 */
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
  #resting = Promise.withResolvers<void>()
  /** Accounts that have nothing to do for now. */
  readonly #atRest = new Set<KeyRole>()
  #stopping = new AbortController()
  #running: Promise<unknown> | undefined
  #lanes: readonly Lane[] = []
  readonly #ledgers = new Set<Ledger>()
  /** Whether the distributor has a key. */
  hasDistributor = true
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

  async account(role: KeyRole = 'issuer'): Promise<string> {
    return (await openXrplLedger(this.node, { role })).account
  }

  get figures() {
    return figuresByNetwork(this.#lanes.map((lane) => lane.figures()))[0]
  }

  /** Gives the distributor what it needs for assets. */
  async fundDistributor(): Promise<void> {
    this.chain.fund(await this.account('distributor'), 10_000_000n)
  }

  /** An asset to be issued, of a stream that is there. Resolves with its id. */
  async issue(code: string): Promise<string> {
    const { tests, userId } = this.#twins
    const assetCode = `${code}${this.chain.rules.networkId}`
    const streamId = await this.#twins.newStream(assetCode)
    const streams = tests.state.updateTable('asset_streams').set({ status: 'COMPLETED' })
    await tests.commit(streams.where('id', '=', streamId))
    const [stream] = await this.#twins.assetStreams.withCodes(userId, [assetCode])
    if (!stream) throw new Error('there is no stream')
    const wanted = { supply: '12', precision: 3, ledger: 'XRPL', network: this.network } as const
    const { asset, changes } = await new AssetStore(this.#twins.needs).plan(stream, wanted)
    if (!(await tests.attempt(...changes))) throw new Error('no asset was made')
    return asset.id
  }

  async assets() {
    const assets = this.#twins.tests.state.selectFrom('assets').selectAll()
    return await assets.where('network', '=', this.network).orderBy('created_at').execute()
  }

  /** As a state that was restored from before the first of the assets was signed, beside a ledger that has gone on. */
  async restore(): Promise<void> {
    await this.#end()
    const { tests } = this.#twins
    const { network } = this
    const later = (await this.anchors()).filter(({ operation }) => operation !== 'creation')
    const ids = later.map(({ id }) => id)
    await tests.commit(
      tests.state.deleteFrom('anchor_leaves').where('anchor_id', 'in', ids),
      tests.state.deleteFrom('anchors').where('id', 'in', ids),
      tests.state
        .updateTable('anchors')
        .set({ state: 'waiting', transaction_hash: null })
        .where('network', '=', network),
      tests.state.deleteFrom('anchor_transactions').where('network', '=', network),
      tests.state
        .updateTable('assets')
        .set({ status: 'METADATA_STORED', token_id: '', tx_hash: '' })
        .where('network', '=', network),
    )
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
    if (this.#lanes.length === 0 && (await this.#written.areAtRest())) return
    this.#resting = Promise.withResolvers()
    if (this.#lanes.length > 0) this.#wake()
    else this.#start()
    const isResting = await Promise.race([
      this.#resting.promise.then(() => true),
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
    const accounts = [await this.account('issuer'), await this.account('distributor')]
    return this.chain.validated().flatMap(({ blob, meta }) => {
      const read = readTransaction(blob.text)
      const isOurs = read?.deed && accounts.includes(read.account)
      return isOurs && isDone(meta.TransactionResult, read.type) ? [read] : []
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
    for (const { id, kind, state, transaction_hash: hash } of await this.anchors()) {
      const there = done.filter(({ deed }) => deed?.intentId === id).map((one) => one.hash)
      const isFailed = failed.includes(id)
      expect([state, there]).toEqual(isFailed ? ['failed', []] : ['completed', [hash]])
      const isNamed = transactions.get(hash ?? '')?.inclusion?.includes('tokenId') ?? false
      expect(isNamed).toBe(!isFailed && (kind === 'nft' || kind === 'issuance'))
    }
    expect([...transactions.values()].filter(({ state }) => state === 'open')).toEqual([])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end()
    for (const node of this.#nodes) await node[Symbol.asyncDispose]()
  }

  #start(): void {
    this.#stopping = new AbortController()
    const { signal } = this.#stopping
    this.#atRest.clear()
    this.#lanes = keyRoles.map((role) => {
      const { state } = this.#twins.tests
      const work = new WatchedWork(state, this.network, role, () => this.#rest(role, signal))
      return testedLane({
        twins: this.#twins,
        network: this.network,
        kill: this.#kill,
        clock: this.clock,
        work,
        open: async () => this.#watched(await this.#opened(role, work, signal), role, signal),
        onMore: () => this.#wake(),
        onFailure: (error) => this.failures.push(error),
      })
    })
    this.#running = Promise.all(this.#lanes.map((lane) => lane.run(signal)))
  }

  async #opened(role: KeyRole, work: OpenWork, signal: AbortSignal): Promise<Ledger> {
    const ledger = await openXrplLedger(this.node, {
      role,
      endpoints: this.#nodes.map(({ endpoint }) => endpoint),
      heights: await work.heights(),
    })
    this.#ledgers.add(ledger)
    if (this.hasDistributor || role === 'issuer') return ledger
    this.#rest(role, signal)
    throw new LedgerUnreachable('there is no key of the distributor')
  }

  #wake(): void {
    this.#atRest.clear()
    for (const lane of this.#lanes) lane.wake()
  }

  #rest(role: KeyRole, signal: AbortSignal): void {
    if (signal.aborted) return
    this.#atRest.add(role)
    if (this.#atRest.size === keyRoles.length) this.#resting.resolve()
  }

  /** Leaves the lane as a crash does, where it was killed: it never ends by itself, and does nothing any more. */
  async #end(): Promise<void> {
    this.#stopping.abort()
    this.#wake()
    const isKilled = await Promise.race([
      this.#kill.met.then(() => true),
      this.#running?.then(() => false),
    ])
    this.#lanes = []
    for (const ledger of this.#ledgers) await ledger.close()
    this.#ledgers.clear()
    if (!isKilled) return
    await this.#kill.settled()
    this.isKilled = true
    this.#kill = new StepKill()
  }

  /** The ledger, which tells when the lane waits for it: time stands meanwhile. */
  #watched(ledger: Ledger, role: KeyRole, signal: AbortSignal): Ledger {
    return new Proxy(ledger, {
      get: (_, name: keyof Ledger) => {
        const member = ledger[name]
        if (name === 'changed') return (until: AbortSignal) => this.#changed(role, until, signal)
        return typeof member === 'function' ? member.bind(ledger) : member
      },
    })
  }

  async #changed(role: KeyRole, until: AbortSignal, signal: AbortSignal): Promise<void> {
    this.#rest(role, signal)
    await new Promise<void>((resolve) => {
      if (until.aborted) resolve()
      until.addEventListener('abort', () => resolve())
    })
  }
}
