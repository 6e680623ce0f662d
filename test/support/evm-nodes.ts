import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { evmTools } from '../../scripts/contracts/compile-contract.ts'
import { isLeftOut, TestServer } from './test-server.ts'

const modules = join(evmTools, 'node_modules')
const anvilProgram = join(modules, '@foundry-rs', 'anvil-linux-amd64', 'bin', 'anvil')
const hardhatProgram = join(modules, 'hardhat', 'dist', 'src', 'cli.js')

/** Whether tests with these nodes are to be left out. */
export const areNodesMissing = isLeftOut(
  'nodes of the EVM',
  existsSync(anvilProgram) && existsSync(hardhatProgram),
  'scripts/install-test-tools',
)

/** A node of the EVM on this machine, whose chain is in its memory. */
export abstract class LocalNode extends TestServer {
  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** What anvil and hardhat say that they are. */
  get network(): string {
    return 'eip155:31337'
  }

  /** Asks it as anybody may. @throws Error with what it says */
  async call(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const response = await fetch(this.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
    if (error !== undefined) throw new Error(JSON.stringify(error))
    return result
  }

  /** Blocks, one after the other. */
  async mine(blocks = 1): Promise<void> {
    for (let at = 0; at < blocks; at++) await this.call('evm_mine')
  }

  /** To be called before each transaction, where blocks are to be taken back. */
  async beforeTransaction(): Promise<void> {}

  /** Puts an empty block in the place of the last one, as a reorg does. */
  abstract takeBlockBack(): Promise<void>

  protected async answers(child: ChildProcess): Promise<ChildProcess> {
    while (child.exitCode === null) {
      const chain = await this.call('eth_chainId').catch(() => undefined)
      if (chain !== undefined) return child
      await sleep(25)
    }
    throw new Error('the node has ended')
  }
}

/** One that ends in good order has its blocks again when it is started, and neither what waited nor what accounts were like before. */
const kept = ['--state', 'chain.json']

/** Anvil: each transaction is in a block at once, unless it is told otherwise. */
export class Anvil extends LocalNode {
  readonly #settings: readonly string[]

  static async start(...settings: readonly string[]): Promise<Anvil> {
    const node = new Anvil(settings)
    await node.start()
    return node
  }

  private constructor(settings: readonly string[]) {
    super()
    this.#settings = settings
  }

  override async takeBlockBack(): Promise<void> {
    await this.call('anvil_reorg', 1, [])
  }

  protected override async launch(folder: string, port: number): Promise<ChildProcess> {
    const words = [
      '--port',
      `${port}`,
      '--silent',
      '--slots-in-an-epoch',
      '2',
      ...kept,
      ...this.#settings,
    ]
    const child = spawn(anvilProgram, words, { cwd: folder, stdio: 'ignore' })
    return await this.answers(child)
  }
}

/** Hardhat, which is no relative of anvil. */
export class Hardhat extends LocalNode {
  readonly #hardfork: string | undefined
  #snapshot: unknown

  /** @param hardfork whose rules are those of the chain; undefined for the newest that it knows */
  static async start(hardfork?: string): Promise<Hardhat> {
    const node = new Hardhat(hardfork)
    await node.start()
    return node
  }

  private constructor(hardfork: string | undefined) {
    super()
    this.#hardfork = hardfork
  }

  override async beforeTransaction(): Promise<void> {
    this.#snapshot = await this.call('evm_snapshot')
  }

  override async takeBlockBack(): Promise<void> {
    await this.call('evm_revert', this.#snapshot)
    await this.mine()
  }

  protected override async launch(folder: string, port: number): Promise<ChildProcess> {
    // It wants a project, and itself in that.
    writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}')
    const networks = { node: { type: 'edr-simulated', hardfork: this.#hardfork } }
    writeFileSync(
      join(folder, 'hardhat.config.js'),
      `export default ${JSON.stringify({ networks })}`,
    )
    const link = join(folder, 'node_modules')
    if (!existsSync(link)) symlinkSync(modules, link)
    const words = [hardhatProgram, 'node', '--hostname', '127.0.0.1', '--port', `${port}`]
    const env = { ...process.env, HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' }
    const child = spawn(process.execPath, words, { cwd: folder, env, stdio: 'ignore' })
    return await this.answers(child)
  }
}
