import { serviceOptions } from './administration.ts'
import type { Command, Input, Operand, Outcome } from './command.ts'
import { fileOption, readJsonFile } from './json-file.ts'
import { type Filter, listing, shownTime } from './resources.ts'
import { Session } from './session.ts'
import { record } from './table.ts'
import { vaultFilter } from './vaults.ts'

interface ShownFleet {
  readonly fleetId: string
  readonly name: string
  readonly vaultId: string
  readonly definition: object
  readonly streams: number
  readonly streamsMax: number
  readonly version: number
  readonly change: {
    readonly version: number
    readonly total: number
    readonly done: number
    readonly failed: number
  } | null
}

interface ShownDevice {
  readonly name: string
  readonly streamId: string | null
  readonly lastReceivedAt: string | null
  readonly denied: boolean
  readonly version: number
}

const fleetOperand: Operand = { name: 'FLEET', summary: 'The id of the fleet.' }

const deviceOperand: Operand = {
  name: 'DEVICE',
  summary: 'The name of the device, as its messages have it.',
}

const list = listing<ShownFleet>({
  name: 'fleets list',
  summary: 'List your fleets.',
  path: () => '/fleets',
  filters: [vaultFilter],
  headings: ['ID', 'NAME', 'STREAMS', 'VERSION', 'CHANGE', 'VAULT'],
  row: ({ fleetId, name, streams, version, change, vaultId }) => [
    fleetId,
    name,
    String(streams),
    String(version),
    progressOf(change),
    vaultId,
  ],
})

const get: Command = {
  name: 'fleets get',
  summary: 'Show a fleet, and how far a change of it is.',
  operands: [fleetOperand],
  options: serviceOptions,
  async run(input) {
    const request = { method: 'GET', path: fleetPath(input) } as const
    return fleetOutcome(await Session.open(input).call<ShownFleet>(request))
  },
}

const create: Command = {
  name: 'fleets create',
  summary: 'Create a fleet from a file: one definition for the data streams of many devices.',
  operands: [],
  options: [fileOption('POST /fleets'), ...serviceOptions],
  async run(input) {
    const body = readJsonFile(input.options['file'] ?? '')
    const request = { method: 'POST', path: '/fleets', body } as const
    return fleetOutcome(await Session.open(input).call<ShownFleet>(request))
  },
}

const update: Command = {
  name: 'fleets update',
  summary:
    'Change a fleet, and with it all of its data streams; what the file does not have stays.',
  operands: [fleetOperand],
  options: [
    fileOption('PUT /fleets/{fleetId}'),
    {
      name: 'if-version',
      value: 'N',
      summary: 'Only while this is its version, as streamvault fleets get shows it.',
    },
    ...serviceOptions,
  ],
  async run(input) {
    const version = input.options['if-version']
    return fleetOutcome(
      await Session.open(input).call<ShownFleet>({
        method: 'PUT',
        path: fleetPath(input),
        body: readJsonFile(input.options['file'] ?? ''),
        ...(version !== undefined && { headers: { 'if-match': `"${version}"` } }),
      }),
    )
  },
}

const remove: Command = {
  name: 'fleets delete',
  summary: 'Delete a fleet. Its data streams become ordinary ones.',
  operands: [fleetOperand],
  options: [
    { name: 'with-streams', summary: 'Delete its data streams, too, with all of their readings.' },
    ...serviceOptions,
  ],
  async run(input) {
    const ending = input.options['with-streams'] === undefined ? 'keep' : 'delete'
    await Session.open(input).remove(`${fleetPath(input)}?streams=${ending}`)
    const id = input.operands['FLEET'] ?? ''
    return { json: { fleetId: id, deleted: true, streams: ending }, text: `deleted ${id}` }
  },
}

const deviceFilters: readonly Filter[] = [
  {
    name: 'silent',
    value: 'DURATION',
    query: 'silentFor',
    summary: 'Only those that have sent nothing for so long, such as 15m.',
  },
  {
    name: 'status',
    value: 'STATUS',
    query: 'status',
    choices: ['active', 'denied', 'outdated'],
    summary: 'Only those with this status.',
  },
]

const devices = listing<ShownDevice>({
  name: 'fleets devices',
  summary: 'List the devices of a fleet, by name.',
  operands: [fleetOperand],
  path: (operands) => `/fleets/${encodeURIComponent(operands['FLEET'] ?? '')}/devices`,
  filters: deviceFilters,
  member: 'devices',
  headings: ['NAME', 'STREAM', 'DENIED', 'VERSION', 'LAST RECEIVED'],
  row: ({ name, streamId, denied, version, lastReceivedAt }) => [
    name,
    streamId ?? '-',
    denied ? 'yes' : 'no',
    String(version),
    shownTime(lastReceivedAt, 'never'),
  ],
})

const rename: Command = {
  name: 'fleets rename',
  summary: 'Let the data stream of a device take the messages with another name.',
  operands: [fleetOperand, deviceOperand],
  options: [
    { name: 'to', value: 'NAME', isRequired: true, summary: 'The new name of the device.' },
    ...serviceOptions,
  ],
  run: async (input) => await deviceDeed(input, 'rename', { name: input.options['to'] ?? '' }),
}

const deny: Command = {
  name: 'fleets deny',
  summary: 'Refuse the messages of a device. Its data stream stays.',
  operands: [fleetOperand, deviceOperand],
  options: serviceOptions,
  run: async (input) => await deviceDeed(input, 'deny'),
}

const allow: Command = {
  name: 'fleets allow',
  summary: 'Accept the messages of a denied device again.',
  operands: [fleetOperand, deviceOperand],
  options: serviceOptions,
  run: async (input) => await deviceDeed(input, 'allow'),
}

export const fleetCommands: readonly Command[] = [
  list,
  get,
  create,
  update,
  remove,
  devices,
  rename,
  deny,
  allow,
]

/** The path of the fleet that was typed. */
function fleetPath({ operands }: Input): string {
  return `/fleets/${encodeURIComponent(operands['FLEET'] ?? '')}`
}

async function deviceDeed(input: Input, deed: string, body: object = {}): Promise<Outcome> {
  const device = encodeURIComponent(input.operands['DEVICE'] ?? '')
  const path = `${fleetPath(input)}/devices/${device}/${deed}`
  const found = await Session.open(input).call<ShownDevice>({ method: 'POST', path, body })
  const { name, streamId, denied, version, lastReceivedAt } = found
  const text = record({
    device: name,
    stream: streamId ?? '-',
    denied: denied ? 'yes' : 'no',
    version: String(version),
    'last received': shownTime(lastReceivedAt, 'never'),
  })
  return { json: found, text }
}

function fleetOutcome(fleet: ShownFleet): Outcome {
  const { fleetId, name, vaultId, streams, streamsMax, version, change, definition } = fleet
  const facts = record({
    fleet: fleetId,
    name,
    vault: vaultId,
    streams: `${streams} of at most ${streamsMax}`,
    version: String(version),
    change: progressOf(change),
  })
  return { json: fleet, text: `${facts}\n${JSON.stringify(definition, null, 2)}` }
}

/** How many streams have the present version of their fleet. */
function progressOf(change: ShownFleet['change']): string {
  if (change === null) return '-'
  const { done, total, failed } = change
  return failed === 0 ? `${done} of ${total}` : `${done} of ${total}, ${failed} failed`
}
