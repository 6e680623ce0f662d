import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

/** What a node says, which a test may change at any time. */
export interface NodeState {
  /** Id of the chain, or of the network. */
  network: number
  /** What every account has, in wei or drops. */
  balance: bigint
  /** Wei for a unit of gas, or drops for a transaction. */
  fee: bigint
  /** Seconds since the Unix epoch. */
  blockTimeS: number
  /** What is at the address of the contract. */
  code: string
  /** How it behaves: `silent` takes questions and says nothing. */
  mood: 'fine' | 'silent' | 'failing' | 'redirecting' | 'raving' | 'endless'
}

/** A node on this machine that speaks as much JSON-RPC as is asked without a library. What is behind its address is a token. */
export class LedgerNodeServer implements AsyncDisposable {
  readonly state: NodeState
  readonly #http: Server
  readonly #sockets: WebSocketServer
  readonly #family: 'evm' | 'xrpl'
  #asked = 0

  static async start(
    family: 'evm' | 'xrpl',
    state: Partial<NodeState> = {},
  ): Promise<LedgerNodeServer> {
    const server = new LedgerNodeServer(family, state)
    server.#http.listen(0, '127.0.0.1')
    await once(server.#http, 'listening')
    return server
  }

  private constructor(family: 'evm' | 'xrpl', state: Partial<NodeState>) {
    this.#family = family
    this.state = {
      network: family === 'evm' ? 31_337 : 99,
      balance: 10n ** 18n,
      fee: family === 'evm' ? 1_000_000_000n : 10n,
      blockTimeS: Math.floor(Date.now() / 1_000),
      code: '0x60',
      mood: 'fine',
      ...state,
    }
    this.#http = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => (text += chunk.toString()))
      request.on('end', () => {
        const { mood } = this.state
        this.#asked += 1
        if (mood === 'silent') return
        if (mood === 'failing') response.writeHead(401).end('the token is wrong')
        else if (mood === 'redirecting') response.writeHead(302, { location: '/' }).end()
        else response.end(this.#answer(text))
      })
    })
    this.#sockets = new WebSocketServer({ server: this.#http })
    this.#sockets.on('connection', (socket: WebSocket) => {
      socket.on('message', (data: Buffer) => {
        this.#asked += 1
        if (this.state.mood === 'failing') socket.terminate()
        else if (this.state.mood !== 'silent') socket.send(this.#answer(data.toString()))
      })
    })
  }

  /** Questions that have arrived. */
  get asked(): number {
    return this.#asked
  }

  http(token = ''): string {
    return `http://127.0.0.1:${this.#port}/${token}`
  }

  ws(token = ''): string {
    return `ws://127.0.0.1:${this.#port}/${token}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate()
    this.#http.closeAllConnections()
    this.#http.close()
    await once(this.#http, 'close')
  }

  get #port(): number {
    return (this.#http.address() as AddressInfo).port
  }

  #answer(text: string): string {
    if (this.state.mood === 'raving') return '<html>'
    if (this.state.mood === 'endless') return JSON.stringify({ result: 'x'.repeat(2_000_000) })
    const question = JSON.parse(text) as Question
    const answer = this.#family === 'evm' ? this.#evm(question) : this.#xrpl(question)
    return JSON.stringify({ id: question.id, ...answer })
  }

  #evm({ method }: Question): object {
    const { network, balance, fee, blockTimeS, code } = this.state
    const results: Readonly<Record<string, unknown>> = {
      eth_chainId: hex(network),
      eth_getBalance: hex(balance),
      eth_getCode: code,
      eth_getBlockByNumber: { timestamp: hex(blockTimeS), baseFeePerGas: hex(fee) },
      eth_gasPrice: hex(fee + 2n),
      eth_maxPriorityFeePerGas: hex(0),
    }
    const result = results[method ?? '']
    if (result !== undefined) return { jsonrpc: '2.0', result }
    return { jsonrpc: '2.0', error: { code: -32_601, message: 'a secret of the node' } }
  }

  /** Over a WebSocket the name stands in `command`. An account without anything is not there. */
  #xrpl({ method, command }: Question): object {
    const { network, balance, fee, blockTimeS } = this.state
    const results: Readonly<Record<string, unknown>> = {
      server_info: {
        info: {
          network_id: network,
          validated_ledger: { reserve_base_xrp: 1, reserve_inc_xrp: 0.2 },
        },
      },
      fee: { drops: { open_ledger_fee: String(fee), minimum_fee: '10' } },
      ledger: { ledger: { close_time: blockTimeS - 946_684_800 } },
      account_info: { account_data: { Balance: String(balance), OwnerCount: 2 } },
    }
    const name = method ?? command ?? ''
    const result = name === 'account_info' && balance === 0n ? undefined : results[name]
    if (result) return { status: 'success', result }
    const error = { error: 'actNotFound', error_message: 'a secret of the node' }
    return method === undefined ? { status: 'error', ...error } : { result: error }
  }
}

interface Question {
  readonly id?: number
  readonly method?: string
  readonly command?: string
}

function hex(value: bigint | number): string {
  return `0x${value.toString(16)}`
}
