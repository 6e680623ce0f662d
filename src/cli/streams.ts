import { serviceOptions } from './administration.ts'
import type { Command, Operand, Outcome } from './command.ts'
import { inferCommand } from './infer.ts'
import { fileOption, readJsonFile } from './json-file.ts'
import { listing } from './resources.ts'
import { Session } from './session.ts'
import { type StreamStatus, statusText } from './stream-status.ts'
import { record } from './table.ts'
import { vaultFilter } from './vaults.ts'

export interface ListedStream {
  readonly streamId: string
  readonly name: string
  readonly type: string
  readonly status: string
  readonly vaultId: string
}

export const streamOperand: Operand = { name: 'STREAM', summary: 'The id of the data stream.' }

/** The path of the stream that was typed. */
export function streamPath(operands: Readonly<Record<string, string>>): string {
  return `/streams/${encodeURIComponent(operands['STREAM'] ?? '')}`
}

const list = listing<ListedStream>({
  name: 'streams list',
  summary: 'List your data streams.',
  path: () => '/streams',
  filters: [
    vaultFilter,
    { name: 'contains', value: 'TEXT', query: 'contains', summary: 'Only with this in the name.' },
    {
      name: 'state',
      value: 'LIST',
      query: 'state',
      summary: 'Only in these states: created, active, paused, error.',
    },
    {
      name: 'problem',
      value: 'LIST',
      query: 'problem',
      summary: 'Only with one of these: silent, quarantined, firing, failing, or any.',
    },
  ],
  headings: ['ID', 'NAME', 'TYPE', 'STATUS', 'VAULT'],
  row: ({ streamId, name, type, status: state, vaultId }) => [streamId, name, type, state, vaultId],
})

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
  summary: 'Show how a data stream is doing, and where each received reading is counted.',
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
  options: [fileOption('POST /streams'), ...serviceOptions],
  async run(input) {
    const body = readJsonFile(input.options['file'] ?? '')
    const session = Session.open(input)
    return definition(await session.call<ListedStream>({ method: 'POST', path: '/streams', body }))
  },
}

const update: Command = {
  name: 'streams update',
  summary: 'Change a data stream; what the file does not have stays.',
  operands: [streamOperand],
  options: [
    fileOption('PUT /streams/{streamId}'),
    {
      name: 'if-version',
      value: 'N',
      summary: 'Only while this is its version, as streamvault streams get shows it.',
    },
    ...serviceOptions,
  ],
  async run(input) {
    const version = input.options['if-version']
    return definition(
      await Session.open(input).call<ListedStream>({
        method: 'PUT',
        path: streamPath(input.operands),
        body: readJsonFile(input.options['file'] ?? ''),
        ...(version !== undefined && { headers: { 'if-match': `"${version}"` } }),
      }),
    )
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
  inferCommand,
  create,
  update,
  remove,
  pausing('pause', 'Accept no readings of a data stream until it is resumed.'),
  pausing('resume', 'Accept readings of a paused data stream again.'),
]

function definition(stream: ListedStream): Outcome {
  const { streamId, name, type, vaultId } = stream
  const rest = JSON.stringify(stream, null, 2)
  return { json: stream, text: `${record({ streamId, name, type, vaultId })}\n${rest}` }
}

function statusOutcome(found: StreamStatus): Outcome {
  return { json: found, text: statusText(found) }
}
