import { once } from 'node:events'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'

type Fields = Readonly<Record<string, unknown>>

/** What the library has to write methods and headers with, and keeps from importers. */
interface Definitions {
  readonly [method: string]: number
  readonly encodeMethod: never
}

interface Encoder {
  encodeMethod(id: number, channel: number, fields: Fields): Buffer
  encodeProperties(id: number, channel: number, size: number, fields: Fields): Buffer
}

const require = createRequire(import.meta.url)
const library = require(
  join(dirname(require.resolve('amqplib')), 'lib', 'defs.js'),
) as Definitions & Encoder

/** The bytes of a method such as `ConnectionTune`. */
export function method(name: string, channel: number, fields: Fields = {}): Buffer {
  const encoder: Encoder = library
  return encoder.encodeMethod(Number(library[name]), channel, fields)
}

/** The bytes of the head of a message, whose body has so many bytes. */
export function messageHead(size: number): Buffer {
  const encoder: Encoder = library
  const delivered = { consumerTag: 'vault', deliveryTag: 1, exchange: '', routingKey: 'a' }
  return Buffer.concat([
    method('BasicDeliver', 1, delivered),
    encoder.encodeProperties(Number(library['BasicProperties']), 1, size, {}),
  ])
}

/** A frame with a part of a body, AMQP 0-9-1, section 4.2.6.2. */
export function bodyFrame(content: Uint8Array): Buffer {
  const head = Buffer.from([3, 0, 1, 0, 0, 0, 0])
  head.writeUInt32BE(content.length, 3)
  return Buffer.concat([head, content, Buffer.of(0xce)])
}

/** What a server says, in this order, to whatever it hears: up to a consumer that waits for messages. */
export const handshake: readonly Buffer[] = [
  method('ConnectionStart', 0, { serverProperties: {} }),
  method('ConnectionTune', 0, { channelMax: 1, frameMax: 131_072, heartbeat: 0 }),
  method('ConnectionOpenOk', 0),
  method('ChannelOpenOk', 1),
  method('QueueDeclareOk', 1, { queue: 'a', messageCount: 1, consumerCount: 0 }),
  method('BasicQosOk', 1),
  method('BasicConsumeOk', 1, { consumerTag: 'vault' }),
]

/** Somebody who says what a test wants instead of a server of AMQP. */
export class ScriptedAmqp implements AsyncDisposable {
  readonly #server = createServer((socket) => this.#talk(socket))
  readonly #sockets: Socket[] = []
  readonly #lines: readonly Buffer[]
  readonly #last: (socket: Socket) => void

  /**
   * @param lines said one after the other, each when something is heard
   * @param last what is done when the last of them was said
   */
  static async start(
    lines: readonly Buffer[],
    last: (socket: Socket) => void = () => undefined,
  ): Promise<ScriptedAmqp> {
    const scripted = new ScriptedAmqp(lines, last)
    scripted.#server.listen(0, '127.0.0.1')
    await once(scripted.#server, 'listening')
    return scripted
  }

  private constructor(lines: readonly Buffer[], last: (socket: Socket) => void) {
    this.#lines = lines
    this.#last = last
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Whether somebody is still connected. */
  get isConnected(): boolean {
    return this.#sockets.some((socket) => !socket.destroyed)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #talk(socket: Socket): void {
    this.#sockets.push(socket)
    socket.on('error', () => undefined)
    const left = [...this.#lines]
    let heard = Buffer.alloc(0)
    const say = () => {
      const line = left.shift()
      if (line === undefined) return
      socket.write(line)
      if (left.length === 0) this.#last(socket)
    }
    socket.on('data', (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk])
      for (let end = questionEnd(heard); end > 0; end = questionEnd(heard)) {
        const isAnswered = !isTuneOk(heard)
        heard = heard.subarray(end)
        if (isAnswered) say()
      }
    })
  }
}

/** Where the first question ends: the protocol header, or a frame. 0 when it has not all been heard. */
function questionEnd(heard: Buffer): number {
  if (heard.length < 8) return 0
  const end = heard[0] === 0x41 ? 8 : 8 + heard.readUInt32BE(3)
  return heard.length < end ? 0 : end
}

/** `connection.tune-ok` has no answer. */
function isTuneOk(heard: Buffer): boolean {
  return heard[0] === 1 && heard.readUInt32BE(7) === Number(library['ConnectionTuneOk'])
}
