import { expect } from 'vitest'
import type { NewAnchor } from '../../src/anchors/intents/anchor.ts'
import type { Lane } from '../../src/anchors/pursuit/lane.ts'
import { OpenWork } from '../../src/anchors/pursuit/open-work.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { EvmLedger, EvmNeeds } from '../../src/ledgers/evm/evm-ledger.ts'
import { AnchoredRows, cidOf } from './anchored-rows.ts'
import { openEvmLedger } from './evm-ledger.ts'
import type { Anvil } from './evm-nodes.ts'
import { HandClock } from './hand-clock.ts'
import { NodeProxy } from './node-proxy.ts'
import { StepKill } from './step-kill.ts'
import { LaneRows, testedLane } from './tested-lane.ts'
import type { Twins } from './twins.ts'

/** Between two blocks, in microseconds. */
const blockUs = 12_000_000

export interface EvmLaneNeeds {
  readonly twins: Twins
  /** It makes blocks only when it is told to. */
  readonly node: Anvil
  readonly killAt?: number
  readonly said?: Partial<EvmNeeds>
}

/** A lane onto a contract of its own on anvil, by a hand clock, over two ways to the node. */
export class EvmLane implements AsyncDisposable {
  readonly clock = new HandClock()
  readonly proxies: readonly [NodeProxy, NodeProxy]
  readonly contract: string
  readonly node: Anvil
  readonly rows: AnchoredRows
  readonly #needs: EvmLaneNeeds
  readonly #network: string
  readonly #rows: LaneRows
  #kill: StepKill
  #stopping = new AbortController()
  #lane: Lane | undefined
  #ledger: EvmLedger | undefined

  static async open(needs: EvmLaneNeeds): Promise<EvmLane> {
    const { node, said } = needs
    await node.call('evm_setAutomine', true)
    await node.call('anvil_dropAllTransactions')
    const ledger = await openEvmLedger(node, said)
    await node.call('evm_setAutomine', false)
    await ledger.close()
    const proxies = [
      await NodeProxy.start(node.endpoint),
      await NodeProxy.start(node.endpoint),
    ] as const
    return new EvmLane(needs, ledger.contract, proxies)
  }

  private constructor(
    needs: EvmLaneNeeds,
    contract: string,
    proxies: readonly [NodeProxy, NodeProxy],
  ) {
    const { twins, node, killAt } = needs
    this.#needs = needs
    this.node = node
    this.contract = contract
    this.proxies = proxies
    this.clock.atUs = systemClock.nowUs()
    // Each contract is a network of its own for the rows of these tests.
    this.#network = `eip155:31337 ${contract}`
    this.#rows = new LaneRows(twins, this.#network)
    this.rows = new AnchoredRows(twins.tests, twins.tests)
    this.#kill = new StepKill(killAt)
  }

  /** Whether it was killed at its step. */
  wasKilled = false

  get figures() {
    return this.#lane?.figures()
  }

  /** A token to be anchored. Resolves with the id of its intent. */
  async plan(name: string, wanted: Partial<NewAnchor> = {}): Promise<string> {
    const cid = cidOf(`${this.contract} ${name}`)
    const id = await this.rows.plan([cid], {
      kind: 'nft',
      network: this.#network,
      uri: `ipfs://${cid}`,
      ...wanted,
    })
    this.wake()
    return id
  }

  start(): void {
    const { twins, node, said } = this.#needs
    const work = new OpenWork(twins.tests.state, this.#network)
    const { contract, clock } = this
    const endpoints = this.proxies.map(({ endpoint }) => endpoint)
    this.#lane = testedLane({
      twins,
      network: this.#network,
      kill: this.#kill,
      clock,
      work,
      open: async () => {
        const heights = await work.heights()
        const settings = {
          contract,
          endpoints,
          clock,
          heights,
          finality: 'finalized',
          ...said,
        } as const
        this.#ledger = await openEvmLedger(node, settings)
        return this.#ledger
      },
      onFailure: (error) => {
        throw error
      },
    })
    this.#stopping = new AbortController()
    void this.#lane.run(this.#stopping.signal)
  }

  wake(): void {
    this.#lane?.wake()
  }

  /** Lets time pass until something holds; what was killed is started again. */
  async until(holds: () => Promise<boolean> | boolean, blocks = 0): Promise<void> {
    await expect
      .poll(
        async () => {
          if (blocks > 0) await this.node.mine(blocks)
          this.clock.atUs += blockUs
          if (this.#kill.isMet) {
            this.wasKilled = true
            await this.restart()
          }
          this.wake()
          return await holds()
        },
        { interval: 60 },
      )
      .toBe(true)
  }

  /** Blocks come until nothing is under way. */
  async finish(): Promise<void> {
    await this.until(async () => await this.#rows.areAtRest(), 1)
  }

  /** Ends the lane, and has the state be as it was before anything was signed. */
  async restore(): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#ledger?.close()
    const { tests } = this.#needs.twins
    const waiting = { state: 'waiting', transaction_hash: null, first_leaf: 0 } as const
    await tests.commit(
      tests.state.updateTable('anchors').set(waiting).where('network', '=', this.#network),
      tests.state.deleteFrom('anchor_transactions').where('network', '=', this.#network),
    )
  }

  /** Has the state know nothing of an anchor. */
  async lose(id: string): Promise<void> {
    const { tests } = this.#needs.twins
    await tests.commit(tests.state.deleteFrom('anchors').where('id', '=', id))
  }

  /** Leaves the lane as a crash does, and starts another one that nothing happens to. */
  async restart(): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#ledger?.close()
    this.#kill = new StepKill()
    this.start()
  }

  async anchors() {
    return await this.#rows.anchors()
  }

  async transactions() {
    return await this.#rows.transactions()
  }

  /** Each intent is on the chain once, in the transaction that its anchor names. */
  async expectAllOnce(failed: readonly string[] = []): Promise<void> {
    const logs = (await this.node.call('eth_getLogs', {
      address: this.contract,
      fromBlock: '0x0',
    })) as readonly { readonly topics: readonly string[]; readonly transactionHash: string }[]
    for (const { id, state, transaction_hash: hash } of await this.anchors()) {
      const intent = `0x${id.replaceAll('-', '').padEnd(64, '0')}`
      const there = logs.filter(({ topics }) => topics[1] === intent)
      const hashes = there.map(({ transactionHash }) => transactionHash)
      const isFailed = failed.includes(id)
      expect([state, hashes]).toEqual(isFailed ? ['failed', []] : ['completed', [hash]])
    }
    expect((await this.transactions()).filter(({ state }) => state === 'open')).toEqual([])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#ledger?.close()
    for (const proxy of this.proxies) await proxy[Symbol.asyncDispose]()
  }
}
