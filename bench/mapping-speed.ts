import { connect, type Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { medianOf } from './fleet.ts'
import { encodeConnect, encodePublish } from './mqtt-packets.ts'
import { type Figure, printFigure } from './report.ts'
import { type StreamvaultTarget, startStreamvault } from './servers.ts'

const fieldsOfReading = 10

/** Publishes of one connection that wait for their acknowledgement. */
const inFlight = 200

const connections = 10

/** A PUBACK of MQTT 3.1.1. */
const pubackBytes = 4

const names = Array.from({ length: fieldsOfReading }, (_, index) => `field_${index}`)

/** What a device sends, and the stream that takes it. */
interface Shape {
  readonly definition: { readonly schema: object; readonly source: object }
  readonly message: (times: readonly string[]) => object
}

const flat: Shape = {
  definition: { schema: schemaWith(() => ({})), source: { timestampField: 'at' } },
  message: (times) => {
    const readings = times.map((at) => ({ at, ...Object.fromEntries(names.map(valueOf)) }))
    return readings.length === 1 ? (readings[0] ?? {}) : readings
  },
}

const mapped: Shape = {
  definition: {
    schema: schemaWith((index) => ({ from: `Group${index % 3}.Value${index}` })),
    source: { items: 'data.readings', timestampField: 'at' },
  },
  message: (times) => ({
    device: 'meter 7',
    data: { readings: times.map((at) => ({ at, ...groups() })) },
  }),
}

function schemaWith(more: (index: number) => object): object {
  return Object.fromEntries(names.map((name, index) => [name, { type: 'number', ...more(index) }]))
}

function valueOf(name: string): readonly [string, number] {
  return [name, Math.round(Math.random() * 10_000) / 100]
}

function groups(): object {
  const found: Record<string, Record<string, number>> = {}
  for (const index of names.keys()) {
    const group = (found[`Group${index % 3}`] ??= {})
    group[`Value${index}`] = valueOf('')[1]
  }
  return found
}

interface Load {
  readonly readings: number
  readonly perMessage: number
}

/** Acknowledged readings a second of a stream that begins empty. */
async function rateOf(target: StreamvaultTarget, shape: Shape, load: Load): Promise<number> {
  const { schema, source } = shape.definition
  const topics: string[] = []
  for (let index = 0; index < connections; index++) {
    topics.push(`streams/${await target.api.createStream(schema, { source })}/data`)
  }
  const packets = topics.map((topic) => packetsFor(topic, shape, load))
  const clients = await Promise.all(topics.map((_, index) => connected(target, index)))
  const start = performance.now()
  await Promise.all(clients.map((client, index) => sendAll(client, packets[index] ?? [])))
  const seconds = (performance.now() - start) / 1_000
  for (const client of clients) client.destroy()
  return load.readings / seconds
}

/** Packets that are made before the clock runs: what is measured is the service. */
function packetsFor(topic: string, shape: Shape, { readings, perMessage }: Load): Buffer[] {
  const count = Math.round(readings / connections / perMessage)
  let timeMs = Date.now() - count * perMessage * 10
  return Array.from({ length: count }, (_, index) => {
    const times = Array.from({ length: perMessage }, () => new Date((timeMs += 10)).toISOString())
    const { bytes, idAt } = encodePublish(topic, JSON.stringify(shape.message(times)))
    bytes.writeUInt16BE((index % 65_000) + 1, idAt)
    return bytes
  })
}

async function connected(target: StreamvaultTarget, index: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect(target.port, '127.0.0.1', () => {
    socket.write(encodeConnect(`mapping-${process.pid}-${Date.now()}-${index}`, target))
  })
  socket.once('error', reject).once('data', () => resolve(socket))
  return await promise
}

/** Resolves when all are acknowledged. */
async function sendAll(socket: Socket, packets: readonly Buffer[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let sent = 0
  let bytes = 0
  const send = () => {
    const acknowledged = Math.floor(bytes / pubackBytes)
    if (acknowledged === packets.length) resolve()
    const until = Math.min(packets.length, acknowledged + inFlight)
    if (until <= sent) return
    socket.write(Buffer.concat(packets.slice(sent, until)))
    sent = until
  }
  socket.once('error', reject).once('close', () => reject(new Error('the connection was closed')))
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    send()
  })
  send()
  await promise
}

/** Rates of both shapes, in turns on one service. */
async function compared(rounds: number, load: Load): Promise<Figure> {
  const target = await startStreamvault(0)
  const rates: { readonly flat: number; readonly mapped: number }[] = []
  // The first round is for the compiler.
  for (let round = 0; round <= rounds; round++) {
    const isFirst = round % 2 === 0
    const first = await rateOf(target, isFirst ? flat : mapped, load)
    const second = await rateOf(target, isFirst ? mapped : flat, load)
    if (round > 0)
      rates.push(isFirst ? { flat: first, mapped: second } : { flat: second, mapped: first })
  }
  await target.stop()
  const ratio = medianOf(rates.map((one) => one.mapped / one.flat))
  const shown = rates.map((one) => `${thousands(one.mapped)} and ${thousands(one.flat)}`)
  return {
    name: `streams with items and ${fieldsOfReading} paths, and flat ones, ${load.perMessage} readings a message: acknowledged readings a second`,
    measured: `${shown.join(', ')}; ratio ${ratio.toFixed(2)}`,
    target: 'ratio 0.6',
    isMet: ratio >= 0.6,
  }
}

/** Rates of flat streams alone, one in a line: to be compared with those of another checkout in turns. */
async function flatAlone(rounds: number, load: Load): Promise<void> {
  const target = await startStreamvault(0)
  for (let round = 0; round <= rounds; round++) {
    const rate = await rateOf(target, flat, load)
    if (round > 0) process.stdout.write(`${Math.round(rate)}\n`)
  }
  await target.stop()
}

function thousands(rate: number): string {
  return `${Math.round(rate / 1_000)} k`
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    readings: { type: 'string', default: '200000' },
    flat: { type: 'boolean', default: false },
  },
})
const [rounds, readings] = [Number(values.rounds), Number(values.readings)]
if (values.flat) await flatAlone(rounds, { readings, perMessage: 1 })
else {
  for (const perMessage of [1, 10]) printFigure(await compared(rounds, { readings, perMessage }))
}
