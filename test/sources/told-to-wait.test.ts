import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { fetchConnectors } from '../../connectors/index.ts'
import type { FetchConnector } from '../../src/contracts/fetch-connector.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { RudeServer } from '../support/rude-server.ts'

const patience = { timeout: 30_000, interval: 20 }

/** Tries that a stream is watched for: the error has to be there all the time, and the other side to be asked again. */
const triesMin = 3

type Speak = (socket: Socket, said: Buffer) => void

interface Waiting {
  readonly source: (port: number) => Readonly<Record<string, unknown>>
  readonly speak: Speak
  readonly shown: RegExp
}

function says(bytes: string | Buffer): Speak {
  return (socket) => socket.end(bytes)
}

function http(head: string): Speak {
  return says(`HTTP/1.1 ${head}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
}

/** Message type E of PostgreSQL: fields of severity, code and text. */
function postgresError(code: string, text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

/** A message of OPC UA that ends a connection: OPC 10000-6, section 7.1.2.5. */
function opcUaError(code: number, reason: string): Buffer {
  const message = Buffer.alloc(16 + reason.length)
  message.write('ERRF', 'latin1')
  message.writeUInt32LE(message.length, 4)
  message.writeUInt32LE(code, 8)
  message.writeInt32LE(reason.length, 12)
  message.write(reason, 16)
  return message
}

const mqttSource = (version: 4 | 5) => (port: number) => ({
  endpoint: `mqtt://127.0.0.1:${port}`,
  topic: 'plant/#',
  version,
})

const others: Readonly<Record<string, Waiting>> = {
  'a server of Redis that is loading': {
    source: (port) => ({ protocol: 'redis', endpoint: `redis://127.0.0.1:${port}`, topic: 'a' }),
    speak: says('-LOADING Redis is loading the dataset in memory\r\n'),
    shown: /LOADING/,
  },
  'a PostgreSQL that is starting up': {
    source: (port) => ({
      protocol: 'postgres',
      follow: 'log',
      endpoint: `127.0.0.1:${port}/plant`,
      table: 'a',
      credentials: { username: 'a', password: 'b' },
    }),
    speak: says(postgresError('57P03', 'the database system is starting up')),
    shown: /starting up/,
  },
  'a server of events that is overloaded': {
    source: (port) => ({ protocol: 'sse', endpoint: `http://127.0.0.1:${port}/` }),
    speak: http('503 Service Unavailable\r\nretry-after: 0'),
    shown: /503/,
  },
  'a server of messages that wants fewer requests': {
    source: (port) => ({ protocol: 'websocket', endpoint: `ws://127.0.0.1:${port}/` }),
    speak: http('429 Too Many Requests\r\nretry-after: 0'),
    shown: /429/,
  },
  'a broker of MQTT 3.1.1 that is not available': {
    source: mqttSource(4),
    speak: says(Buffer.of(0x20, 2, 0, 3)),
    shown: /unavailable/i,
  },
  'a broker of MQTT 5 that is busy': {
    source: mqttSource(5),
    speak: says(Buffer.of(0x20, 3, 0, 0x89, 0)),
    shown: /busy/i,
  },
  'a server of OPC UA that is too busy': {
    source: (port) => ({
      protocol: 'opcua',
      endpoint: `opc.tcp://127.0.0.1:${port}`,
      items: { number: 'ns=1;s=a' },
    }),
    speak: says(opcUaError(0x807d_0000, 'too busy')),
    shown: /TooBusy|too busy/,
  },
}

describe('an other side that always wants to be asked later', () => {
  test.each(Object.entries(others))('is asked later, and shown: %s', async (_, waiting) => {
    let tries = 0
    await using server = await RudeServer.start((socket, said) => {
      tries++
      waiting.speak(socket, said)
    })
    const source = waiting.source(server.port)
    const connector = fetchConnectors.find((one) => one.takes(source)) as FetchConnector
    await using fetching = new FetchingSource({ connector, source, ports: [server.port] })
    fetching.start()
    for (let wanted = 1; wanted <= triesMin; wanted++) {
      await expect.poll(() => tries, patience).toBeGreaterThanOrEqual(wanted)
      await expect
        .poll(() => fetching.runner.status, patience)
        .toMatchObject({ state: 'failing', lastError: expect.stringMatching(waiting.shown) })
    }
  })
})
