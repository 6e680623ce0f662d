import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Connection } from '@platformatic/kafka'
import { type Answer, type Arguments, type CallName, type Library, readAnswer } from './library.ts'

/** An answer has its length in front of it. */
const lengthBytes = 4

/** Largest answer: what is fetched at once is smaller, unless one batch of a topic is so large. */
const answerBytesMax = 64 * 1024 * 1024

/** Requests that are not answered yet, of one connection. */
const waitingMax = 100

const ownName = 'streamvault'

type Send = Connection['send']

interface Waiting {
  readonly answered: (frame: Buffer) => void
  readonly failed: (error: Error) => void
}

interface BrokerConnectionNeeds {
  readonly library: Library
  readonly socket: Socket
  /** A broker that says nothing for so long is dead. */
  readonly answerMs: number
}

/**
 * One connection to a broker, over a socket that is there already: the library would open one of its own. It has of
 * the library's connection what the calls of the protocol need.
 */
export class BrokerConnection {
  readonly #needs: BrokerConnectionNeeds
  readonly #waiting = new Map<number, Waiting>()
  #versions: ReadonlyMap<string, { readonly min: number; readonly max: number }> = new Map()
  #correlationId = 0
  #chunks: Buffer[] = []
  #bytes = 0
  #failure: Error | undefined
  readonly #failed = Promise.withResolvers<never>()

  constructor(needs: BrokerConnectionNeeds) {
    this.#needs = needs
    const { socket } = needs
    this.#failed.promise.catch(() => undefined)
    socket.on('data', (chunk: Buffer) => this.#hear(chunk))
    socket.on('error', (error) => this.fail(error))
    socket.on('close', () => this.fail(new Error('the broker has closed the connection')))
  }

  /** Rejects when nothing can be asked any more. */
  get failed(): Promise<never> {
    return this.#failed.promise
  }

  /** Asks what the broker can do. */
  async negotiate(): Promise<void> {
    const { library } = this.#needs
    const { apiKeys } = await library.apiVersionsV3.api.async(this.asConnection, ownName, '1')
    this.#versions = new Map(
      apiKeys.map(({ name, minVersion, maxVersion }) => [
        name,
        { min: minVersion, max: maxVersion },
      ]),
    )
  }

  /** The newest version of a call that both sides know. @throws Error when there is none */
  versionOf(name: CallName | 'SaslAuthenticate'): number {
    return this.api(name).version
  }

  api(name: CallName | 'SaslAuthenticate') {
    const { min, max } = this.#versions.get(name) ?? { min: 0, max: -1 }
    const start = name.slice(0, 1).toLowerCase() + name.slice(1)
    for (let version = max; version >= min; version--) {
      const module = this.#needs.library[`${start}V${version}` as 'saslAuthenticateV2'] as
        | Library['saslAuthenticateV2']
        | undefined
      if (module) return module.api
    }
    throw new Error(`the broker is too old, or too new: it has no ${name} that we know`)
  }

  async call<Name extends CallName>(name: Name, ...rest: Arguments<Name>): Promise<Answer<Name>> {
    const { async: ask } = this.api(name)
    const asked = ask as unknown as (...all: readonly unknown[]) => Promise<Answer<Name>>
    return await asked(this.asConnection, ...rest)
  }

  /** What the library takes for a connection of its own. */
  get asConnection(): Connection {
    return this as unknown as Connection
  }

  /** Sends as the connection of the library does. */
  send(
    ...[key, version, createPayload, parse, hasTags, answersTags, done]: Parameters<Send>
  ): void {
    const { library } = this.#needs
    const failed = (error: Error) => done(error)
    if (this.#failure) {
      failed(this.#failure)
      return
    }
    if (this.#waiting.size >= waitingMax) {
      failed(new Error('the broker leaves too much unanswered'))
      return
    }
    const correlationId = this.#correlationId
    this.#correlationId = (correlationId + 1) % 2 ** 31
    const timer = setTimeout(
      () => this.fail(new Error('the broker does not answer')),
      this.#needs.answerMs,
    )
    this.#waiting.set(correlationId, {
      answered: (frame) => {
        clearTimeout(timer)
        let answer: unknown
        try {
          const reader = library.Reader.from(frame)
          // Tagged fields of the header: none are known.
          reader.skip(lengthBytes + (answersTags ? 1 : 0))
          answer = readAnswer(() => parse(correlationId, key, version, reader))
        } catch (error) {
          failed(error as Error)
          return
        }
        try {
          done(null, answer)
        } catch (error) {
          // What the library does next may stumble over what the broker has sent.
          this.fail(error as Error)
        }
      },
      failed: (error) => {
        clearTimeout(timer)
        failed(error)
      },
    })
    const writer = library.Writer.create().appendInt16(key).appendInt16(version)
    writer.appendInt32(correlationId).appendString(ownName, false)
    if (hasTags) writer.appendTaggedFields()
    writer.appendFrom(createPayload() as ReturnType<typeof library.Writer.create>).prependLength()
    this.#needs.socket.write(writer.buffer)
  }

  /** What is not answered yet fails, and so does all that is asked later. */
  fail(error: Error): void {
    this.#failure ??= error
    this.#failed.reject(this.#failure)
    this.#needs.socket.destroy()
    this.#chunks = []
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { failed } of waiting) failed(this.#failure)
  }

  async close(): Promise<void> {
    const { socket } = this.#needs
    const closed = socket.closed ? undefined : once(socket, 'close')
    this.fail(new Error('the connection was closed'))
    await closed
  }

  #hear(chunk: Buffer): void {
    if (this.#failure) return
    this.#chunks.push(chunk)
    this.#bytes += chunk.byteLength
    while (this.#bytes >= lengthBytes) {
      const first = this.#chunks[0] as Buffer
      if (first.byteLength < lengthBytes) this.#chunks = [Buffer.concat(this.#chunks)]
      const length = (this.#chunks[0] as Buffer).readInt32BE(0)
      if (length < lengthBytes || length > answerBytesMax) {
        this.fail(new Error(`the broker announces an answer of ${length} bytes: is it Kafka?`))
        return
      }
      const end = lengthBytes + length
      if (this.#bytes < end) return
      const all =
        this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks)
      this.#bytes -= end
      this.#chunks = this.#bytes > 0 ? [all.subarray(end)] : []
      this.#answer(all.subarray(lengthBytes, end))
    }
  }

  #answer(frame: Buffer): void {
    const correlationId = frame.readInt32BE(0)
    const waiting = this.#waiting.get(correlationId)
    if (!waiting) {
      this.fail(new Error('the broker answers a request that was not made'))
      return
    }
    this.#waiting.delete(correlationId)
    waiting.answered(frame)
  }
}
