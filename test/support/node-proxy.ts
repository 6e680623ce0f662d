import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Message {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

interface Answer {
  readonly id: number
  readonly result?: unknown
}

type Loss = 'request' | 'answer'

/** Stands before a node, and can lose what is asked of it and what it answers, or be behind it. */
export class NodeProxy implements AsyncDisposable {
  readonly #server: Server
  readonly #target: string
  readonly #losses = new Map<string, Loss[]>()
  readonly #refusals = new Map<string, (params: readonly unknown[]) => boolean>()
  readonly #lies = new Map<string, (result: unknown) => unknown>()
  readonly #repeated = new Set<string>()
  readonly #last = new Map<string, unknown>()
  readonly #asked: string[] = []
  #isCut = false
  #lacked: string | undefined
  /** What it knows ends with this block. */
  #staleAt: number | undefined
  #before: ((method: string) => Promise<void>) | undefined

  static async start(target: string): Promise<NodeProxy> {
    const proxy = new NodeProxy(target)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  private constructor(target: string) {
    this.#target = target
    this.#server = createServer((request, response) => {
      this.#pass(request, response).catch(() => response.destroy())
    })
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Methods that were asked for, in order. */
  get asked(): readonly string[] {
    return this.#asked
  }

  /** How often a method was asked for. */
  countOf(method: string): number {
    return this.#asked.filter((one) => one === method).length
  }

  /** Breaks the connection of the next call of a method: before the node has it, or after it has answered. */
  lose(method: string, what: Loss): void {
    this.#losses.set(method, [...(this.#losses.get(method) ?? []), what])
  }

  /** Does something before each call is passed on. */
  before(action: (method: string) => Promise<void>): void {
    this.#before = action
  }

  /** Answers some calls of a method with an error of its own. */
  refuse(method: string, isRefused: (params: readonly unknown[]) => boolean): void {
    this.#refusals.set(method, isRefused)
  }

  /** Answers a method with what is made of the answer. */
  lie(method: string, lie: (result: unknown) => unknown): void {
    this.#lies.set(method, lie)
  }

  /** Answers a method with what it was answered last, whatever came later. */
  repeat(method: string): void {
    this.#repeated.add(method)
  }

  /** Has nothing of what is asked for by this hash or number: the address leads to two nodes, of which one lags behind. */
  lack(hash: string): void {
    this.#lacked = hash
  }

  /** Answers nothing from now on. */
  cut(): void {
    this.#isCut = true
  }

  /** Is as the node again. */
  mend(): void {
    this.#isCut = false
    this.#staleAt = undefined
    this.#repeated.clear()
    this.#lies.clear()
  }

  /** Answers as it would have after a block, whatever came later. */
  stayBehind(height: number): void {
    this.#staleAt = height
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const messages = JSON.parse(Buffer.concat(pieces).toString()) as readonly Message[]
    this.#asked.push(...messages.map(({ method }) => method))
    const losses = messages.flatMap(({ method }) => this.#losses.get(method)?.shift() ?? [])
    if (this.#isCut || losses.includes('request')) return void response.destroy()
    for (const { method } of messages) await this.#before?.(method)
    const answers = await this.#forward(messages)
    if (losses.includes('answer')) return void response.destroy()
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answers.map((answer) => this.#said(messages, answer))))
  }

  #said(messages: readonly Message[], answer: Answer): unknown {
    const message = messages.find(({ id }) => id === answer.id)
    if (!message) return answer
    const { method, params } = message
    if (params.includes(this.#lacked)) return { ...answer, result: null }
    if (this.#repeated.has(method)) return { ...answer, result: this.#last.get(method) }
    this.#last.set(method, answer.result)
    const lie = this.#lies.get(method)
    if (lie) return { ...answer, result: lie(answer.result) }
    if (!this.#refusals.get(method)?.(params)) return answer
    return { jsonrpc: '2.0', id: answer.id, error: { code: -32_005, message: 'limit exceeded' } }
  }

  async #forward(messages: readonly Message[]): Promise<readonly Answer[]> {
    const staleAt = this.#staleAt
    const asked = staleAt === undefined ? messages : messages.map((one) => earlier(one, staleAt))
    const answer = await fetch(this.#target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    })
    const answers = (await answer.json()) as readonly Answer[]
    return staleAt === undefined ? answers : answers.map((one) => withoutLater(one, staleAt))
  }
}

/** A call as it is asked of a node that knows no later block. */
function earlier(message: Message, height: number): Message {
  const block = `0x${height.toString(16)}`
  return { ...message, params: message.params.map((one) => (isNewest(one) ? block : one)) }
}

function isNewest(param: unknown): boolean {
  return param === 'latest' || param === 'pending'
}

/** What a node says of a transaction that is in a block later than those it knows. */
function withoutLater(answer: Answer, height: number): Answer {
  const { result } = answer
  const place = (result as { blockNumber?: unknown } | null | undefined)?.blockNumber
  if (typeof place !== 'string' || Number(place) <= height) return answer
  return { ...answer, result: null }
}
