import { serviceOptions } from './administration.ts'
import type { Command, Operand } from './command.ts'
import { expiryOf, overlapSeconds } from './durations.ts'
import { acting, deleting, listed, listing, showing, shownTime } from './resources.ts'
import { Session } from './session.ts'
import { record } from './table.ts'
import { vaultFilter } from './vaults.ts'

export interface Device {
  /** The id of its key, too. */
  readonly id: string
  readonly name: string
  readonly state: string
  readonly streamIds: readonly string[]
  readonly clientId: string | null
  readonly commandTopic: string
  readonly expiresAt: string | null
  readonly previousSecretUntil: string | null
  readonly lastSeen: { readonly at: string; readonly protocol: string } | null
  readonly droppedPublishes: number
}

export interface DeviceWithSecret extends Device {
  readonly apiSecret: string
}

const deviceOperand: Operand = {
  name: 'DEVICE',
  summary: 'The id of the device, such as sv_dev_...',
}

const path = (id: string) => `/devices/${id}`

const secretNotice = 'The secret is not shown again: keep it now.'

const list = listing<Device>({
  name: 'devices list',
  summary: 'List your devices.',
  path: () => '/devices',
  filters: [
    { name: 'stream', value: 'STREAM', query: 'streamId', summary: 'Only of this data stream.' },
    vaultFilter,
    { name: 'contains', value: 'TEXT', query: 'contains', summary: 'Only with this in the name.' },
    {
      name: 'state',
      value: 'STATE',
      query: 'state',
      choices: ['active', 'expired', 'revoked'],
      summary: 'Only in this state.',
    },
  ],
  headings: ['ID', 'NAME', 'STATE', 'STREAMS', 'LAST SEEN'],
  row: ({ id, name, state, streamIds, lastSeen }) => [
    id,
    name,
    state,
    String(streamIds.length),
    shownTime(lastSeen?.at, 'never'),
  ],
})

const create: Command = {
  name: 'devices create',
  summary: 'Make a device with credentials of its own, and print its secret this once.',
  operands: [],
  options: [
    { name: 'name', value: 'TEXT', isRequired: true, summary: 'The name of the device.' },
    {
      name: 'streams',
      value: 'LIST',
      isRequired: true,
      summary: 'The ids of its data streams, separated by commas.',
    },
    {
      name: 'client-id',
      value: 'TEXT',
      summary: 'The only MQTT client id that it may connect with.',
    },
    {
      name: 'expires',
      value: 'TIME',
      summary: 'An instant (RFC 3339) or a duration such as 90d. Default: never.',
    },
    ...serviceOptions,
  ],
  async run(input) {
    const { name = '', streams, expires, 'client-id': clientId } = input.options
    const body = {
      name,
      streamIds: listed(streams),
      ...(clientId !== undefined && { clientId }),
      ...(expires !== undefined && { expiresAt: expiryOf(expires) }),
    }
    const request = { method: 'POST', path: '/devices', body } as const
    const made = await Session.open(input).call<DeviceWithSecret>(request)
    return { json: made, text: record(factsWithSecret(made)), notice: secretNotice }
  },
}

export const deviceCommands: readonly Command[] = [
  list,
  create,
  showing<Device>({
    name: 'devices get',
    summary: 'Show a device.',
    operand: deviceOperand,
    path,
    facts: factsOf,
  }),
  acting<DeviceWithSecret>({
    name: 'devices rotate',
    summary: 'Give a device a new secret, and print it this once.',
    operand: deviceOperand,
    path: (id) => `${path(id)}/rotate`,
    options: [
      {
        name: 'overlap',
        value: 'DURATION',
        summary: 'How long the secret before stays valid, such as 1h; 0 ends it at once.',
      },
    ],
    body: ({ options }) => {
      const seconds = overlapSeconds(options['overlap'])
      return seconds === undefined ? {} : { overlapSeconds: seconds }
    },
    facts: factsWithSecret,
    notice: secretNotice,
  }),
  acting<Device>({
    name: 'devices revoke',
    summary: 'Revoke a device: its tokens and sessions end at once. It stays in the list.',
    operand: deviceOperand,
    path: (id) => `${path(id)}/revoke`,
    facts: factsOf,
  }),
  deleting({
    name: 'devices delete',
    summary: 'Delete a device: its tokens and sessions end at once. Its readings stay.',
    operand: deviceOperand,
    path,
    idName: 'deviceId',
  }),
]

function factsOf(device: Device): Record<string, string> {
  const { id, name, state, streamIds, clientId, lastSeen } = device
  const seen = lastSeen && `${lastSeen.at}, ${lastSeen.protocol}`
  return {
    device: id,
    name,
    state,
    streams: streamIds.join(' '),
    'client id': clientId ?? 'any',
    commands: device.commandTopic,
    expires: device.expiresAt ?? 'never',
    'last seen': seen ?? 'never',
    'dropped publishes': String(device.droppedPublishes),
  }
}

function factsWithSecret(device: DeviceWithSecret): Record<string, string> {
  const { device: id = '', ...rest } = factsOf(device)
  const { previousSecretUntil: until, apiSecret: secret } = device
  return {
    device: id,
    secret,
    ...rest,
    ...(until !== null && { 'secret before': `valid until ${until}` }),
  }
}
