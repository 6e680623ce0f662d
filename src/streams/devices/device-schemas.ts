import {
  boolean,
  choice,
  component,
  count,
  cursorListOf,
  cursorQuery,
  dateTime,
  describedOnly,
  keyHeaders,
  listOf,
  namesOf,
  noContent,
  nullable,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { deviceStates, streamsOfDeviceMax } from './device.ts'
import { readingsPerSecondMin } from './device-request.ts'

const deviceId = { ...text, examples: ['sv_dev_0a1b2c3d4e5f60718293a4b5'] } as const

export const rateLimit = {
  ...record({
    readingsPerSecond: { type: 'number', minimum: readingsPerSecondMin, examples: [10] },
    burst: { type: 'integer', minimum: 1, examples: [100] },
  }),
  description: 'Readings a second over time, and how many may come at once.',
}

const streamIds = listOf(uuid, { minItems: 1, maxItems: streamsOfDeviceMax })
const clientId = {
  ...nullable(text),
  description: 'The only MQTT client id that it may connect with.',
}
const certificateName = {
  ...nullable(text),
  description: 'Common name of the client certificates that stand for it; unique in the service.',
}

const droppedPublishes = {
  ...count,
  description:
    'Messages over MQTT to topics that are none of its own, since the service was started.',
}

const properties = {
  id: { ...deviceId, description: 'The same as apiKey, as paths name it.' },
  apiKey: { ...deviceId, description: 'The MQTT user name, and x-api-key.' },
  name: text,
  state: choice(deviceStates),
  streamIds: listOf(uuid),
  clientId,
  certificateName,
  rateLimit: { oneOf: [rateLimit, { type: 'null' }] },
  commandTopic: { ...text, description: 'What its own topics of MQTT begin with.' },
  serial: { ...nullable(text), description: 'What it registered itself as.' },
  mayRegisterAgain: boolean,
  createdAt: dateTime,
  expiresAt: nullable(dateTime),
  revokedAt: nullable(dateTime),
  rotatedAt: nullable(dateTime),
  previousSecretUntil: {
    ...nullable(dateTime),
    description: 'Until then the secret before the last rotation is good, too.',
  },
  lastSeen: {
    oneOf: [
      record({ at: dateTime, address: text, protocol: { ...text, examples: ['mqtt'] } }),
      { type: 'null' },
    ],
    description: 'Written down about once a minute.',
  },
  droppedPublishes,
}

const device = component('Device', record(properties))
export const deviceWithSecret = component(
  'DeviceWithSecret',
  record({
    ...properties,
    apiSecret: { ...text, description: 'The MQTT password, and x-api-secret. Shown this once.' },
  }),
)

const wishes = {
  name: { ...text, examples: ['boiler 7'] },
  streamIds,
  clientId,
  certificateName,
  rateLimit: { oneOf: [rateLimit, { type: 'null' }] },
  expiresAt: { ...nullable(text), description: 'RFC 3339, with a zone.' },
}

export const newDevice = component('NewDevice', {
  ...record(wishes, { optional: ['clientId', 'certificateName', 'rateLimit', 'expiresAt'] }),
  examples: [{ name: 'boiler 7', streamIds: ['0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'] }],
})

const params = record({ deviceId })

export const createDevice = {
  operationId: 'createDevice',
  summary: 'Make credentials for a device; their secret is shown this once.',
  description:
    'A device sends readings of its own streams, over MQTT and HTTP, and can do nothing else.',
  tags: ['Devices'],
  headers: keyHeaders,
  body: describedOnly(newDevice),
  response: { 201: deviceWithSecret },
} as const

export const listDevices = {
  operationId: 'listDevices',
  summary: "List one's own devices.",
  tags: ['Devices'],
  querystring: query({
    ...cursorQuery,
    streamId: uuid,
    vaultId: { ...uuid, description: 'Of a stream of the device.' },
    name: { ...text, description: 'The whole name, or its beginning and *; in any case.' },
    state: choice(deviceStates),
  } as const),
  response: { 200: cursorListOf(device) },
} as const

export const readDevice = {
  operationId: 'readDevice',
  summary: 'Read a device.',
  tags: ['Devices'],
  params,
  response: { 200: device },
} as const

export const changeDevice = {
  operationId: 'changeDevice',
  summary: 'Change a device; what is not sent stays.',
  description: 'Its sessions end, and begin anew with what it may do now.',
  tags: ['Devices'],
  params,
  body: describedOnly(
    component('ChangedDevice', {
      ...record(
        {
          ...wishes,
          mayRegisterAgain: {
            ...boolean,
            description: 'Lets the device register itself once more, which gives it new secrets.',
          },
        },
        { optional: [...namesOf(wishes), 'mayRegisterAgain'] },
      ),
      examples: [{ name: 'boiler 7, left' }],
    }),
  ),
  response: { 200: device },
} as const

/** Seconds that two secrets of one device can be good at the same time. */
const overlapSMax = 30 * 86_400

export const rotateDevice = {
  operationId: 'rotateDevice',
  summary: 'Give a device a new secret; the one before stays good for a while.',
  description: 'With an overlap of 0 its sessions end at once.',
  tags: ['Devices'],
  headers: keyHeaders,
  params,
  body: nullable(
    record(
      {
        overlapSeconds: { type: 'integer', minimum: 0, maximum: overlapSMax, default: 86_400 },
      },
      { optional: ['overlapSeconds'] },
    ),
  ),
  response: { 200: deviceWithSecret },
} as const

export const revokeDevice = {
  operationId: 'revokeDevice',
  summary: 'Revoke a device: its tokens and sessions end at once, and it stays in the list.',
  tags: ['Devices'],
  headers: keyHeaders,
  params,
  response: { 200: device },
} as const

export const deleteDevice = {
  operationId: 'deleteDevice',
  summary: 'Delete a device: its tokens and sessions end at once. Its readings stay.',
  tags: ['Devices'],
  params,
  response: { 204: noContent },
} as const
