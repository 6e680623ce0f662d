import { rmSync } from 'node:fs'
import { ApiClient } from './api-client.ts'
import { settingsOf, streamvaultJson } from './command-line.ts'
import type { LocalNode } from './evm-nodes.ts'
import { newPerson, type Person } from './people.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from './service-process.ts'

type Environment = Readonly<Record<string, string>>

/** A service whose live keys anchor on a node of the EVM, set up as an operator does it, by commands. */
export class EvmService implements AsyncDisposable {
  readonly dataDir: string
  /** Settings of the service. */
  readonly settings: Environment
  readonly #key: Person['key']
  #process: ServiceProcess | undefined

  /** @param endpoint where the service asks the node */
  static async start(
    node: LocalNode,
    { endpoint = node.endpoint, ...others }: Environment & { readonly endpoint?: string } = {},
  ): Promise<EvmService> {
    const dataDir = newDataDir()
    const settings = {
      STREAMVAULT_ANCHORING: 'on',
      STREAMVAULT_LEDGER_ETHEREUM: endpoint,
      STREAMVAULT_LEDGER_ETHEREUM_NETWORK: 'eip155:31337',
      ...others,
    }
    const first = await startServiceProcess(dataDir, settings)
    const person = await newPerson(new ApiClient(first.http), { kind: 'live' })
    await first.end('SIGTERM')
    const environment = { ...settingsOf(dataDir), ...settings }
    await streamvaultJson(['ledger', 'keys', 'create', 'ETHEREUM'], environment)
    const words = ['ledger', 'keys', 'address', 'ETHEREUM']
    const [account] = await streamvaultJson<{ address: string }[]>(words, environment)
    await node.call('hardhat_setBalance', account?.address, '0xde0b6b3a7640000')
    const deploy = ['ledger', 'deploy', 'ETHEREUM']
    const { address } = await streamvaultJson<{ address: string }>(deploy, environment)
    const whole = { ...settings, STREAMVAULT_LEDGER_ETHEREUM_CONTRACT: address }
    const service = new EvmService(dataDir, whole, person.key)
    await service.resume()
    return service
  }

  private constructor(dataDir: string, settings: Environment, key: Person['key']) {
    this.dataDir = dataDir
    this.settings = settings
    this.#key = key
  }

  get process(): ServiceProcess {
    if (!this.#process) throw new Error('the service does not run')
    return this.#process
  }

  get contract(): string {
    return this.settings['STREAMVAULT_LEDGER_ETHEREUM_CONTRACT'] ?? ''
  }

  /** For commands that use the same folder. */
  get environment(): Environment {
    return { ...settingsOf(this.dataDir), ...this.settings }
  }

  /** Somebody with a live key, all of whose vaults and attachments are for the node. */
  get owner() {
    const api = new ApiClient(this.process.http)
    const { apiKey, apiSecret } = this.#key
    const key = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
    return {
      base: api.base,
      withKey: async <Body>(
        method: string,
        path: string,
        body?: unknown,
        headers: Environment = {},
      ) => {
        const isMade = method === 'POST' && /^\/(vaults|attachments)$/.test(path)
        const wanted = isMade ? { ...(body as object), ledger: 'ETHEREUM' } : body
        return await api.request<Body>(method, path, {
          headers: { ...key, ...headers },
          body: wanted,
        })
      },
    }
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    await this.#process?.end(signal)
    this.#process = undefined
  }

  /** @param others settings for this time alone */
  async resume(others: Environment = {}): Promise<void> {
    this.#process = await startServiceProcess(this.dataDir, { ...this.settings, ...others })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGTERM')
    rmSync(this.dataDir, { recursive: true })
  }
}
