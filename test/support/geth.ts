import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { addressOf } from '../../src/ledgers/evm/evm-transaction.ts'
import { signerOf } from './evm-account.ts'
import { LocalNode } from './evm-nodes.ts'

/** Where scripts/install-ledger-tools puts it. */
const program = join(homedir(), '.cache', 'streamvault-test-tools', 'bin', 'geth-1.17.10')

/** Wei that the account of the tests gets: a thousand of what the network counts in. */
const funds = '0x3635c9adc5dea00000'

/** What most nodes of Ethereum run. Its chain of one is made for trying: a block comes with each transaction. */
export class Geth extends LocalNode {
  readonly #settings: readonly string[]
  #withdrawals = 0
  #before: unknown = '0x0'

  /** @throws Error when it is not installed */
  static async start(...settings: readonly string[]): Promise<Geth> {
    if (!existsSync(program)) throw new Error('geth is missing: run scripts/install-ledger-tools')
    const node = new Geth(settings)
    await node.start()
    const [rich] = (await node.call('eth_accounts')) as readonly string[]
    const to = addressOf(signerOf())
    await node.call('eth_sendTransaction', { from: rich, to, value: funds })
    await node.mine()
    return node
  }

  private constructor(settings: readonly string[]) {
    super()
    this.#settings = settings
  }

  override get network(): string {
    return 'eip155:1337'
  }

  /** A block comes with each withdrawal, or when it is time for one. */
  override async mine(blocks = 1): Promise<void> {
    for (let at = 0; at < blocks; at++) {
      const before = await this.call('eth_blockNumber')
      await this.call('dev_addWithdrawal', {
        index: `0x${(++this.#withdrawals).toString(16)}`,
        validatorIndex: '0x1',
        address: `0x${'00'.repeat(20)}`,
        amount: '0x0',
      })
      while ((await this.call('eth_blockNumber')) === before) await sleep(25)
    }
  }

  override async beforeTransaction(): Promise<void> {
    this.#before = await this.call('eth_blockNumber')
  }

  override async takeBlockBack(): Promise<void> {
    await this.call('debug_setHead', this.#before)
    await this.mine()
  }

  protected override async launch(folder: string, port: number): Promise<ChildProcess> {
    const words = ['--dev', '--datadir', folder, '--ipcdisable', '--nodiscover', '--port', '0']
    const http = ['--http', '--http.port', `${port}`, '--http.api', 'eth,debug,dev']
    const child = spawn(program, [...words, ...http, ...this.#settings], {
      cwd: folder,
      stdio: 'ignore',
    })
    return await this.answers(child)
  }
}
