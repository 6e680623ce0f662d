import type { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { Channel, ChannelModel } from 'amqplib'

/** What the library makes of a frame (AMQP 0-9-1, section 2.3.5): a method, a header, or a part of a body. */
export interface Frame {
  readonly channel: number
  /** Class and method of a method, or class of a header. */
  readonly id?: number
  /** Bytes of the body that follows a header. */
  readonly size?: number
  readonly fields?: Readonly<Record<string, unknown>>
  readonly content?: Buffer
}

/** The lower layer of the library: the protocol over any stream. Its types are not published. */
export interface LibraryConnection extends EventEmitter {
  readonly stream: Duplex
  /** @param fields arguments of the methods of the handshake, all together */
  open(fields: object, callback: (error: Error | null) => void): void
  /** The next frame, or false until more has arrived. It calls itself when it had to read. */
  recvFrame(): Frame | false
  /** Whether the server was heard since the last question. */
  checkRecv(): boolean
}

/**
 * The library opens sockets by itself, and resolves their names; its layers would take any stream, but are kept from
 * importers. They are found by their files, which are those of the one version that is installed.
 */
export function libraryOver(socket: Duplex): {
  readonly connection: LibraryConnection
  readonly model: ChannelModel
} {
  const require = createRequire(import.meta.url)
  const folder = join(dirname(require.resolve('amqplib')), 'lib')
  const { Connection } = require(join(folder, 'connection.js')) as {
    readonly Connection: new (stream: Duplex) => LibraryConnection
  }
  const { ChannelModel } = require(join(folder, 'channel_model.js')) as {
    readonly ChannelModel: new (connection: LibraryConnection) => ChannelModel
  }
  const connection = new Connection(socket)
  return { connection, model: new ChannelModel(connection) }
}

/** Where a server breaks the protocol, the library would wait for it to agree that the channel has ended. */
export function endAtOnce(channel: Channel, end: (reason: Error) => void): void {
  const inner = channel as unknown as {
    closeWithError: (id: number, text: string, code: number, reason: Error) => void
  }
  inner.closeWithError = (_id, _text, _code, reason) => end(reason)
}
