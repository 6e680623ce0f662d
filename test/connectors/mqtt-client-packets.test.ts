import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { mqttClient } from '../../connectors/mqtt-client/mqtt-client.ts'
import { FetchingSource } from '../support/fetching-source.ts'

/** Answers of a broker; packets of more than two bytes are made where they are needed. */
const connackOk = { 4: [0x20, 2, 0, 0], 5: [0x20, 3, 0, 0, 0] } as const
const versionRefused = { byCode: [0x20, 2, 0, 1], byReason: [0x20, 3, 0, 0x84, 0] } as const

const disconnect = 'e000'

const patience = { timeout: 60_000, interval: 10 }

/** A broker that says what a test has it say, and keeps the packets that it gets. */
class ScriptedBroker {
  readonly #server: Server
  /** First bytes and bodies of packets, in hex. */
  readonly got: string[] = []
  answersSubscriptions = true
  #socket: Socket | undefined

  /** @param answer to a CONNECT of this version; none: the connection is closed */
  static async start(answer: (version: number) => readonly number[] | undefined) {
    const broker = new ScriptedBroker(answer)
    broker.#server.listen(0, '127.0.0.1')
    await once(broker.#server, 'listening')
    brokers.push(broker)
    return broker
  }

  private constructor(answer: (version: number) => readonly number[] | undefined) {
    this.#server = createServer((socket) => {
      this.#socket = socket
      socket.on('error', () => undefined)
      socket.on('data', (chunk: Buffer) => {
        for (const packet of packetsOf(chunk)) this.#handle(socket, packet, answer)
      })
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  send(...packets: readonly Buffer[]): void {
    this.#socket?.write(Buffer.concat(packets))
  }

  /** Ends the connection, not the broker. */
  cut(): void {
    this.#socket?.destroy()
  }

  close(): void {
    this.#socket?.destroy()
    this.#server.close()
  }

  #handle(
    socket: Socket,
    packet: Buffer,
    answer: (version: number) => readonly number[] | undefined,
  ): void {
    const type = (packet[0] as number) >> 4
    if (type === 1) {
      const connack = answer(packet[8] as number)
      this.got.push(`connect ${packet[8]}`)
      if (connack === undefined) socket.destroy()
      else socket.write(Buffer.from(connack))
    } else if (type === 8 && !this.answersSubscriptions) {
      this.got.push('subscribe')
    } else if (type === 8) {
      const id = packet.subarray(2, 4)
      const isFive = this.got.includes('connect 5') && !this.got.includes('connect 4')
      const granted = isFive ? [0, 1] : [1]
      socket.write(Buffer.from([0x90, 2 + granted.length, ...id, ...granted]))
    } else this.got.push(packet.toString('hex'))
  }
}

const brokers: ScriptedBroker[] = []

afterEach(() => {
  for (const broker of brokers.splice(0)) broker.close()
})

function* packetsOf(chunk: Buffer): Generator<Buffer> {
  for (let at = 0; at < chunk.length; ) {
    const end = at + 2 + (chunk[at + 1] as number)
    yield chunk.subarray(at, end)
    at = end
  }
}

interface Published {
  readonly qos: 1 | 2
  readonly id: number
  readonly payload: string
  readonly isDuplicate?: boolean
}

/** A PUBLISH of MQTT 3.1.1 on the topic `a`. */
function publish({ qos, id, payload, isDuplicate = false }: Published): Buffer {
  const body = Buffer.concat([Buffer.from([0, 1, 0x61, id >> 8, id & 255]), Buffer.from(payload)])
  return Buffer.concat([
    Buffer.from([0x30 | (isDuplicate ? 8 : 0) | (qos << 1), body.length]),
    body,
  ])
}

function started(broker: ScriptedBroker, options: object): FetchingSource {
  const source = { endpoint: `mqtt://127.0.0.1:${broker.port}`, topic: 'a', ...options }
  const fetching = new FetchingSource({ connector: mqttClient, source, ports: [broker.port] })
  fetching.start()
  return fetching
}

async function running(broker: ScriptedBroker, options: object): Promise<FetchingSource> {
  const fetching = started(broker, options)
  await expect.poll(() => fetching.runner.status, patience).toMatchObject({ state: 'running' })
  return fetching
}

const acknowledgements = (broker: ScriptedBroker) =>
  broker.got.filter((packet) => !packet.startsWith('connect') && packet !== disconnect)

describe('a broker that does not know MQTT 5', () => {
  test.each([
    ['says so as MQTT 3.1.1 does', versionRefused.byCode],
    ['says so as MQTT 5 does', versionRefused.byReason],
    ['closes the connection', undefined],
  ])('is spoken to in MQTT 3.1.1 when it %s', async (_, refusal) => {
    const broker = await ScriptedBroker.start((version) => (version === 5 ? refusal : connackOk[4]))
    await using source = await running(broker, { version: 'auto' })
    expect(broker.got).toEqual(['connect 5', 'connect 4'])
    broker.send(publish({ qos: 1, id: 1, payload: '{"number": 1}' }))
    await expect.poll(() => source.entries().numbers, patience).toEqual([1])
  })

  test('is not spoken to when MQTT 5 is asked for', async () => {
    const broker = await ScriptedBroker.start(() => versionRefused.byReason)
    await using fetching = started(broker, { version: 5 })
    await expect.poll(() => fetching.runner.status.retries, patience).toBeGreaterThan(1)
    expect(new Set(broker.got)).toEqual(new Set(['connect 5']))
  })
})

describe('an acknowledgement', () => {
  test.each([
    [1, ['40020001', '40020002', '40020003']],
    [2, ['50020001', '50020002', '50020003']],
  ] as const)(
    'of QoS %s is sent when the messages are durable, in their order',
    async (qos, sent) => {
      const broker = await ScriptedBroker.start(() => connackOk[4])
      await using source = await running(broker, { version: 4, qos: 2 })
      source.journal.hold()
      const ids = [1, 2, 3]
      broker.send(...ids.map((id) => publish({ qos, id, payload: `{"number": ${id}}` })))
      await expect.poll(() => source.runner.status.unacknowledged, patience).toBe(3)
      expect(acknowledgements(broker)).toEqual([])
      source.journal.release()
      await expect.poll(() => acknowledgements(broker), patience).toEqual(sent)
      expect(source.entries().numbers).toEqual(ids)
    },
  )

  test('is given again to a QoS 2 message that was not released, which is kept once', async () => {
    const broker = await ScriptedBroker.start(() => [0x20, 2, 1, 0])
    await using source = await running(broker, { version: 4, qos: 2 })
    const message = { qos: 2, id: 7, payload: '{"number": 7}' } as const
    broker.send(publish(message))
    await expect.poll(() => acknowledgements(broker), patience).toEqual(['50020007'])
    broker.cut()
    await expect.poll(() => source.runner.connections, patience).toBe(2)
    broker.send(publish({ ...message, isDuplicate: true }), Buffer.from([0x62, 2, 0, 7]))
    await expect
      .poll(() => acknowledgements(broker), patience)
      .toEqual(['50020007', '50020007', '70020007'])
    broker.send(publish({ ...message, payload: '{"number": 8}' }))
    await expect.poll(() => source.entries().numbers, patience).toEqual([7, 8])
  })
})

test('the connection does not end before the broker has released what is kept', async () => {
  const broker = await ScriptedBroker.start(() => connackOk[4])
  await using source = await running(broker, { version: 4, qos: 2 })
  broker.send(publish({ qos: 2, id: 7, payload: '{"number": 7}' }))
  await expect.poll(() => broker.got.at(-1), patience).toBe('50020007')
  const stopped = source.runner.stop()
  broker.send(Buffer.from([0x62, 2, 0, 7]))
  await stopped
  await expect.poll(() => broker.got.slice(-2), patience).toEqual(['70020007', disconnect])
})

test('a message that comes again without a time of its own has its first time of receipt', async () => {
  const broker = await ScriptedBroker.start(() => [0x20, 2, 1, 0])
  await using source = await running(broker, { version: 4, qos: 1 })
  const message = { qos: 1, id: 7, payload: '{"number": 7}' } as const
  broker.send(publish(message))
  await expect.poll(() => acknowledgements(broker), patience).toEqual(['40020007'])
  broker.cut()
  await expect.poll(() => source.runner.connections, patience).toBe(2)
  broker.send(publish({ ...message, isDuplicate: true }), publish(message))
  await expect.poll(() => source.entries().numbers, patience).toEqual([7, 7, 7])
  const [first, again, other] = source.entries().timesUs
  expect(again).toBe(first)
  expect(other).not.toBe(first)
})

test('a broker that does not answer the subscription is given up', async () => {
  const broker = await ScriptedBroker.start(() => connackOk[4])
  broker.answersSubscriptions = false
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    await using source = started(broker, { version: 4 })
    await expect.poll(() => broker.got, patience).toContain('subscribe')
    await vi.advanceTimersByTimeAsync(15_000)
    await expect
      .poll(() => source.runner.status, patience)
      .toMatchObject({ state: 'failing', lastError: expect.stringContaining('subscription') })
  } finally {
    vi.useRealTimers()
  }
})

test('of a long topic only the beginning is kept with what is refused', async () => {
  const broker = await ScriptedBroker.start(() => connackOk[4])
  await using source = await running(broker, { version: 4 })
  const topic = Buffer.concat([Buffer.from([0xff, 0xff]), Buffer.alloc(0xffff, 'a')])
  broker.send(Buffer.from([0x30, 0x82, 0x80, 0x04]), topic, Buffer.from('x'))
  await expect.poll(() => source.entries().refused, patience).toEqual(['78'])
  expect(source.entries().sources.map(({ length }) => length < 300)).toEqual([true])
})

test.each([
  [1, '40020007'],
  [2, '50020007'],
] as const)(
  'a message of QoS %s that is larger than we take is refused and acknowledged, and others follow',
  async (qos, acknowledgement) => {
    const broker = await ScriptedBroker.start(() => connackOk[4])
    await using source = await running(broker, { version: 4, qos: 2 })
    const bytes = 5 * 1024 * 1024
    const digits = [0, 1, 2, 3].map((place) => Math.floor(bytes / 128 ** place) % 128)
    const length = digits.map((digit, place) => (place < 3 ? digit | 128 : digit))
    const head = Buffer.from([0x30 | (qos << 1), ...length])
    const body = Buffer.alloc(bytes, 'x')
    Buffer.from([0, 1, 0x61, 0, 7]).copy(body)

    broker.send(head, body, publish({ qos: 1, id: 8, payload: '{"number": 8}' }))

    await expect
      .poll(() => acknowledgements(broker), patience)
      .toEqual([acknowledgement, '40020008'])
    const { numbers, refused } = source.entries()
    expect(numbers).toEqual([8])
    expect(refused).toEqual(['78'.repeat(64 * 1024)])
  },
)

test('any other packet that is larger than we take ends the connection, with the reason', async () => {
  const broker = await ScriptedBroker.start(() => connackOk[4])
  await using source = await running(broker, { version: 4, qos: 1 })
  broker.send(Buffer.from([0xd0, 0xff, 0xff, 0xff, 0x7f]))
  await expect
    .poll(() => source.runner.status.lastError, patience)
    .toContain('a packet of 268435455 bytes is larger than')
})

test('a packet id that the broker has released too early is free for the next message', async () => {
  const broker = await ScriptedBroker.start(() => connackOk[4])
  await using source = await running(broker, { version: 4, qos: 2 })
  source.journal.hold()
  const released = Buffer.from([0x62, 2, 0, 7])
  broker.send(publish({ qos: 2, id: 7, payload: '{"number": 7}' }), released)
  await expect.poll(() => acknowledgements(broker), patience).toEqual(['70020007'])
  source.journal.release()
  await expect.poll(() => acknowledgements(broker), patience).toEqual(['70020007', '50020007'])

  broker.send(publish({ qos: 2, id: 7, payload: '{"number": 8}' }))

  await expect.poll(() => source.entries().numbers, patience).toEqual([7, 8])
})

test('a message that is sent again while it is on its way to the disk is kept once', async () => {
  const broker = await ScriptedBroker.start(() => connackOk[4])
  await using source = await running(broker, { version: 4, qos: 2 })
  source.journal.hold()
  const message = { qos: 2, id: 7, payload: '{"number": 7}' } as const
  broker.send(publish(message), publish({ ...message, isDuplicate: true }))
  broker.send(publish({ qos: 1, id: 8, payload: '{"number": 8}' }))
  await expect.poll(() => source.runner.status.unacknowledged, patience).toBe(2)
  source.journal.release()

  await expect.poll(() => acknowledgements(broker), patience).toEqual(['50020007', '40020008'])
  expect(source.entries().numbers).toEqual([7, 8])
})
