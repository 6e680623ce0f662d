import { parseArgs } from 'node:util'
import { lineDecoder } from '../processors/decode-lines.ts'
import { judgeOf } from '../processors/index.ts'
import { linesByTag } from '../processors/line-protocol/lines-by-tag.ts'
import { scanOf } from '../processors/scan.ts'
import type { FieldMap, StreamSchema } from '../src/contracts/stream-schema.ts'
import { judgeMessage } from '../src/ingest/pipeline/intake.ts'
import { printFigure } from './report.ts'

/** What one line costs from its text to its verdict, beside the journal and the network. */

const linesOfBody = 5_000

const usages = [
  'idle',
  'user',
  'system',
  'iowait',
  'irq',
  'nice',
  'softirq',
  'steal',
  'guest',
  'guest_nice',
]

interface Kind {
  readonly name: string
  readonly fields: FieldMap
  readonly line: (index: number) => string
  readonly targetUs: number
}

const short: Kind = {
  name: 'lines of one tag and one field',
  fields: { host: { type: 'string' }, value: { type: 'number' } },
  line: (index) => `m,host=h${index % 100} value=${percent()} ${timeOf(index)}`,
  targetUs: 1.5,
}

const asTelegraf: Kind = {
  name: 'lines of Telegraf, of two tags and ten fields',
  fields: {
    host: { type: 'string' },
    cpu: { type: 'string' },
    ...Object.fromEntries(usages.map((name) => [`usage_${name}`, { type: 'number' }] as const)),
  },
  line: (index) => {
    const values = usages.map((name) => `usage_${name}=${percent()}`).join(',')
    return `cpu,cpu=cpu${index % 8},host=h${index % 3} ${values} ${timeOf(index)}`
  },
  targetUs: 4,
}

/** A line whose measurement and tags are no fields of the stream. */
const unknown: Kind = {
  name: 'lines of Telegraf with unknown tags',
  fields: { usage_idle: { type: 'number' } },
  line: asTelegraf.line,
  targetUs: 6,
}

function percent(): string {
  return (Math.random() * 100).toFixed(3)
}

function timeOf(index: number): bigint {
  return 1_769_853_590_000_000_000n + BigInt(index) * 1_000_000n
}

const schemaOf = (fields: FieldMap): StreamSchema => ({
  fields,
  validation: 'lenient',
  timestampField: 'timestamp',
  timestampFormat: 'rfc3339',
  time: { isRequired: false },
})

function bodyOf({ line }: Kind): Buffer {
  return Buffer.from(Array.from({ length: linesOfBody }, (_, index) => `${line(index)}\n`).join(''))
}

/** Microseconds of processors that a line takes, once the compiler has seen enough of them. */
function costOf(body: Buffer, rounds: number, work: (body: Buffer) => void): number {
  for (let round = 0; round < rounds; round++) work(body)
  const before = process.cpuUsage()
  for (let round = 0; round < rounds; round++) work(body)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / rounds / linesOfBody
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '100' } } })
const rounds = Number(values.rounds)

for (const kind of [short, asTelegraf, unknown]) {
  const schema = schemaOf(kind.fields)
  const judge = judgeOf(schema)
  const decode = lineDecoder({ schema })
  const stream = { judge } as Parameters<typeof judgeMessage>[0]
  const judged = (scan: ReturnType<typeof scanOf>) => (body: Buffer) => {
    const message = decode(body, scan)
    if (!message.ok) throw new Error(message.problem)
    const verdicts = judgeMessage(stream, message, 1_769_853_600_000_000)
    if (!verdicts.every(({ accepted }) => accepted)) throw new Error('a line was refused')
  }
  const body = bodyOf(kind)
  const scanned = costOf(body, rounds, judged(scanOf(schema)))
  const parsed = costOf(body, rounds, judged(undefined))
  printFigure({
    name: `${kind.name}: decoded and judged`,
    measured: `${scanned.toFixed(2)} us a line, without the scan ${parsed.toFixed(2)} us`,
    target: `${kind.targetUs} us`,
    isMet: scanned <= kind.targetUs,
  })
}

const shorts = bodyOf(short)
const sorting = costOf(shorts, rounds, (body) => {
  if (linesByTag(body, 'host').devices.length !== 100) throw new Error('devices are missing')
})
printFigure({
  name: 'lines of 100 devices in turns, sorted by their tag',
  measured: `${sorting.toFixed(2)} us a line`,
  target: '0.6 us',
  isMet: sorting <= 0.6,
})
