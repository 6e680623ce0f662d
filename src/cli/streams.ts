import { readFileSync } from 'node:fs'
import { messageOf } from '../core/errors.ts'
import { serviceOptions } from './administration.ts'
import { type Command, CommandError, type Operand, type Outcome } from './command.ts'
import { Session } from './session.ts'
import { record, table } from './table.ts'

export interface ListedStream {
  readonly streamId: string
  readonly name: string
  readonly type: string
  readonly status: string
  readonly vaultId: string
}

interface StreamStatus {
  readonly status: string
  readonly lastDataReceived: string | null
  readonly dataPointsToday: number
  readonly health: { readonly status: string }
  readonly counters: Readonly<Record<string, number>>
}

export const streamOperand: Operand = { name: 'STREAM', summary: 'The id of the data stream.' }

/** The path of the stream that was typed. */
export function streamPath(operands: Readonly<Record<string, string>>): string {
  return `/streams/${encodeURIComponent(operands['STREAM'] ?? '')}`
}

const list: Command = {
  name: 'streams list',
  summary: 'List the data streams.',
  operands: [],
  options: serviceOptions,
  async run(input) {
    const streams = await Session.open(input).list<ListedStream>('/streams')
    const rows = streams.map((one) => [one.streamId, one.name, one.type, one.status, one.vaultId])
    return { json: streams, text: table(['ID', 'NAME', 'TYPE', 'STATUS', 'VAULT'], rows) }
  },
}

const get: Command = {
  name: 'streams get',
  summary: 'Show the definition of a data stream.',
  operands: [streamOperand],
  options: serviceOptions,
  async run(input) {
    const path = streamPath(input.operands)
    return definition(await Session.open(input).call<ListedStream>({ method: 'GET', path }))
  },
}

const status: Command = {
  name: 'streams status',
  summary: 'Show what became of the readings of a data stream.',
  operands: [streamOperand],
  options: serviceOptions,
  async run(input) {
    const path = `${streamPath(input.operands)}/status`
    return statusOutcome(await Session.open(input).call<StreamStatus>({ method: 'GET', path }))
  },
}

const create: Command = {
  name: 'streams create',
  summary: 'Create a data stream from a definition in a file.',
  operands: [],
  options: [
    {
      name: 'file',
      value: 'FILE',
      isRequired: true,
      summary: 'JSON: the body of `POST /streams`; - reads it from standard input.',
    },
    ...serviceOptions,
  ],
  async run(input) {
    const body = readDefinition(input.options['file'] ?? '')
    const session = Session.open(input)
    return definition(await session.call<ListedStream>({ method: 'POST', path: '/streams', body }))
  },
}

const remove: Command = {
  name: 'streams delete',
  summary: 'Delete a data stream with its readings.',
  operands: [streamOperand],
  options: serviceOptions,
  async run(input) {
    const id = input.operands['STREAM'] ?? ''
    await Session.open(input).call({ method: 'DELETE', path: streamPath(input.operands) })
    return { json: { streamId: id, deleted: true }, text: `deleted ${id}` }
  },
}

function pausing(verb: 'pause' | 'resume', summary: string): Command {
  return {
    name: `streams ${verb}`,
    summary,
    operands: [streamOperand],
    options: serviceOptions,
    async run(input) {
      const path = `${streamPath(input.operands)}/${verb}`
      return statusOutcome(await Session.open(input).call<StreamStatus>({ method: 'POST', path }))
    },
  }
}

export const streamCommands: readonly Command[] = [
  list,
  get,
  status,
  create,
  remove,
  pausing('pause', 'Take no readings of a data stream until it is resumed.'),
  pausing('resume', 'Take readings of a paused data stream again.'),
]

/** @throws CommandError `unreadable_file` */
function readDefinition(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8')) as unknown
  } catch (error) {
    throw new CommandError('unreadable_file', `${file} cannot be read: ${messageOf(error)}`)
  }
}

function definition(stream: ListedStream): Outcome {
  const { streamId, name, type, vaultId } = stream
  const rest = JSON.stringify(stream, null, 2)
  return { json: stream, text: `${record({ streamId, name, type, vaultId })}\n${rest}` }
}

function statusOutcome(found: StreamStatus): Outcome {
  const counters = Object.entries(found.counters).map(([name, count]) => [name, String(count)])
  const text = record({
    status: found.status,
    health: found.health.status,
    'last data': found.lastDataReceived ?? 'never',
    today: String(found.dataPointsToday),
    ...(Object.fromEntries(counters) as Record<string, string>),
  })
  return { json: found, text }
}
