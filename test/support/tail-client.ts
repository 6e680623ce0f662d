import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'

export interface ReceivedEvent {
  readonly type: string
  readonly position: string
  readonly data: Readonly<Record<string, unknown>>
}

/** How a tail came to its end: what the service has said, or nothing when it only closed. */
export interface ReceivedEnd {
  readonly error: string | undefined
  readonly closeCode: number | undefined
}

/** An answer in place of a tail. */
export class TailRefused extends Error {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, text: string) {
    super(`${status} ${text}`)
    this.status = status
    this.body = JSON.parse(text) as TailRefused['body']
  }
}

export type TailKind = 'events' | 'socket'

const waitMs = 60_000

/** Somebody who follows a stream, over either kind of connection. */
export class TailClient {
  readonly events: ReceivedEvent[] = []
  /** Resolves when the connection is closed. */
  readonly ended: Promise<ReceivedEnd>
  /** From where one would go on. */
  position = ''
  readonly #end = Promise.withResolvers<ReceivedEnd>()
  #grown = Promise.withResolvers<void>()
  #said: ReceivedEnd = { error: undefined, closeCode: undefined }
  #connection: Connection | undefined

  private constructor() {
    this.ended = this.#end.promise
  }

  /** @throws TailRefused */
  static async open(kind: TailKind, target: TailTarget): Promise<TailClient> {
    const client = new TailClient()
    client.#connection = await (kind === 'events' ? openEvents : openSocket)(target, {
      take: (event) => client.#take(event),
      close: (said) => client.#end.resolve({ ...client.#said, ...said }),
    })
    return client
  }

  /** Resolves when so many readings were received. */
  async received(count: number): Promise<void> {
    const deadline = sleep(waitMs, 'late', { ref: false })
    while (this.events.length < count) {
      if ((await Promise.race([this.#grown.promise, deadline, this.ended])) !== undefined) {
        throw new Error(`${this.events.length} of ${count} events came`)
      }
    }
  }

  /** Resolves when the connection stands: then at least one position is known. */
  async begun(): Promise<void> {
    while (this.position === '') await this.#grown.promise
  }

  /** Sends a message to the service, where the client is a WebSocket. */
  send(text: string): void {
    this.#connection?.send?.(text)
  }

  pause(): void {
    this.#connection?.pause()
  }

  resume(): void {
    this.#connection?.resume()
  }

  close(): void {
    this.#connection?.destroy()
  }

  #take({ type, position, data }: Partial<ReceivedEvent>): void {
    if (position !== undefined) this.position = position
    if (type === 'end') this.#said = { error: String(data?.['error']), closeCode: undefined }
    else if (type !== undefined && type !== 'position') {
      this.events.push({ type, position: position ?? '', data: data ?? {} })
    }
    this.#grown.resolve()
    this.#grown = Promise.withResolvers()
  }
}

export interface TailTarget {
  /** For example http://127.0.0.1:8080/streams/.../tail?last=1 */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Protocols that a WebSocket offers. */
  readonly protocols?: readonly string[]
}

interface Connection {
  send?(text: string): void
  pause(): void
  resume(): void
  destroy(): void
}

interface Sink {
  take(event: Partial<ReceivedEvent>): void
  close(said: Partial<ReceivedEnd>): void
}

async function openEvents({ url, headers }: TailTarget, sink: Sink): Promise<Connection> {
  const outgoing = request(url, { headers, agent: false })
  outgoing.end()
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  if (incoming.statusCode !== 200) throw await refusal(incoming)
  let rest = ''
  incoming.setEncoding('utf8').on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) sink.take(eventOf(block))
  })
  incoming.on('error', () => undefined)
  incoming.once('close', () => sink.close({}))
  return incoming
}

/** One block of Server-Sent Events. */
function eventOf(block: string): Partial<ReceivedEvent> {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const at = line.indexOf(': ')
      return [line.slice(0, at), line.slice(at + 2)]
    }),
  )
  const [id, name, data] = [fields.get('id'), fields.get('event'), fields.get('data')]
  return {
    ...(id !== undefined && { position: id }),
    ...(data !== undefined && {
      type: name ?? 'reading',
      data: JSON.parse(data) as ReceivedEvent['data'],
    }),
  }
}

async function openSocket(target: TailTarget, sink: Sink): Promise<Connection> {
  const { url, headers, protocols = [] } = target
  const socket = new WebSocket(url.replace(/^http/, 'ws'), [...protocols], { headers })
  socket.on('error', () => undefined)
  socket.on('message', (text: Buffer) => {
    sink.take(JSON.parse(text.toString()) as Partial<ReceivedEvent>)
  })
  socket.once('close', (closeCode: number, reason: Buffer) => {
    const [error] = reason.toString().split(':')
    sink.close({ closeCode, ...(error && { error }) })
  })
  const refused = once(socket, 'unexpected-response').then(async ([, incoming]) => {
    throw await refusal(incoming as IncomingMessage)
  })
  await Promise.race([once(socket, 'open'), refused])
  refused.catch(() => undefined)
  return {
    send: (text) => socket.send(text),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    destroy: () => socket.terminate(),
  }
}

async function refusal(incoming: IncomingMessage): Promise<TailRefused> {
  let text = ''
  for await (const chunk of incoming.setEncoding('utf8')) text += String(chunk)
  return new TailRefused(incoming.statusCode ?? 0, text)
}
