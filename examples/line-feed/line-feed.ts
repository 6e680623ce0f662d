import { createInterface } from 'node:readline'
import { isOfKind, sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import type {
  FetchConnector,
  FetchedMessage,
  FetchedSource,
  FetchRun,
  SourceDefinition,
} from '../../src/contracts/fetch-connector.ts'
import { lineFeedSource } from './source.ts'

/** Messages that have arrived and are not durable yet: at that many the socket is not read any further. */
const unsettledMax = 1_000

/**
 * A feed of messages over TCP: it receives `FROM <number>`, and sends every message from that number on, one
 * line of base64 for each, and then those that come.
 */
export const lineFeed: FetchConnector = {
  takes: (source) => isOfKind(lineFeedSource, source),
  destinationOf: addressOf,
  open: ({ source }) => new LineFeed(addressOf(source)),
}

function addressOf(source: SourceDefinition['source']) {
  const { endpoint } = sourceOf(lineFeedSource, source)
  const { hostname, port } = new URL(endpoint)
  return { host: hostname, port: Number(port) }
}

class LineFeed implements FetchedSource {
  readonly identity: string
  readonly #address: { readonly host: string; readonly port: number }

  constructor(address: { readonly host: string; readonly port: number }) {
    this.#address = address
    this.identity = `${address.host}:${address.port}`
  }

  async run({ accept, position, onRunning, dial, signal }: FetchRun): Promise<void> {
    const socket = await dial({ ...this.#address, signal })
    const stop = () => socket.destroy()
    signal.addEventListener('abort', stop)
    // An error of the socket ends the loop below.
    socket.on('error', stop)
    let next = Number(position?.['next'] ?? 0)
    const underWay: Promise<unknown>[] = []
    try {
      socket.write(`FROM ${next}\n`)
      onRunning()
      for await (const line of createInterface({ input: socket, signal })) {
        next++
        const accepted = accept([this.#messageOf(line)], { next })
        // A failure is met where it is awaited; until then no one handles it.
        accepted.catch(stop)
        underWay.push(accepted)
        if (underWay.length >= unsettledMax) await underWay.shift()
      }
      await Promise.all(underWay)
      if (!signal.aborted) throw new Error('the feed has ended')
    } finally {
      signal.removeEventListener('abort', stop)
      socket.destroy()
    }
  }

  #messageOf(line: string): FetchedMessage {
    const { host, port } = this.#address
    return { payload: Buffer.from(line, 'base64'), source: `the feed at ${host}:${port}` }
  }
}
