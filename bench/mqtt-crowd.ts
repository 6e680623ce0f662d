import type { Socket } from 'node:net'
import { openSocket } from './load-driver.ts'
import {
  CONNACK,
  describeReturnCode,
  encodeConnect,
  encodeSubscribe,
  PacketReader,
  PUBLISH,
  SUBACK,
} from './mqtt-packets.ts'
import type { MqttTarget } from './servers.ts'

/** Connections that are opened at once: a queue of the kernel holds about so many. */
const batch = 200

/** The service may have a limit for one address: connections are dealt out over many. */
const connectionsOfAddress = 500

interface CrowdOptions {
  readonly size: number
  /** What each subscribes to; undefined: nothing. */
  readonly filter?: string
  /** Runs for every message that a subscriber receives. */
  readonly onMessage?: () => void
}

/** Many clients that are connected, and do nothing but listen. */
export class Crowd {
  readonly #sockets: Socket[] = []
  /** Why connections have ended, apart from those that `leave` has ended. */
  readonly lost: string[] = []
  #isLeaving = false

  /** Resolves when all are connected and subscribed. @throws Error when one is refused */
  static async gather(target: MqttTarget, options: CrowdOptions): Promise<Crowd> {
    const crowd = new Crowd()
    for (let first = 0; first < options.size; first += batch) {
      const some = Array.from({ length: Math.min(batch, options.size - first) }, (_, index) =>
        crowd.#join(target, first + index, options),
      )
      await Promise.all(some)
    }
    return crowd
  }

  async leave(): Promise<void> {
    this.#isLeaving = true
    await Promise.all(
      this.#sockets.map(async (socket) => {
        if (socket.destroyed) return
        const closed = new Promise((resolve) => socket.once('close', resolve))
        socket.destroy()
        await closed
      }),
    )
  }

  #join(target: MqttTarget, index: number, { filter, onMessage }: CrowdOptions): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const reader = new PacketReader((type, _, second) => {
      if (type === PUBLISH) onMessage?.()
      else if (type === SUBACK) resolve()
      else if (type !== CONNACK) return
      else if (second !== 0) reject(new Error(describeReturnCode(second)))
      else if (filter === undefined) resolve()
      else socket.write(encodeSubscribe(filter))
    })
    const localAddress = `127.0.0.${2 + Math.floor(index / connectionsOfAddress)}`
    const socket = openSocket(
      { host: '127.0.0.1', port: target.port, localAddress },
      {
        onOpen: () => socket.write(encodeConnect(`crowd-${index}`, target)),
        onBytes: (bytes) => reader.push(bytes),
        onClose: (reason) => {
          reject(new Error(reason))
          if (!this.#isLeaving) this.lost.push(reason)
        },
      },
    )
    this.#sockets.push(socket)
    return promise
  }
}
