import type { Static } from 'typebox'
import { foreignTopics as foreignTopicsValues } from '../../access/auth/foreign-topics.ts'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import {
  bulkMax,
  commandTopic,
  type Device,
  deviceStates,
  stateOf,
  streamsOfDeviceMax,
} from './device.ts'
import { readingsPerSecondMin } from './device-request.ts'
import type { DeviceWithSecret } from './device-store.ts'

/** The id in paths: it is a key as well. */
export const deviceId = { ...s.text, examples: ['sv_dev_0a1b2c3d4e5f60718293a4b5'] } as const

export const rateLimit = {
  ...s.record({
    readingsPerSecond: { ...s.number, minimum: readingsPerSecondMin, examples: [10] },
    burst: s.integer(1, undefined, { examples: [100] }),
  }),
  description: 'Readings a second over time, and how many may come at once.',
}

const streamIds = s.listOf(s.uuid, { minItems: 1, maxItems: streamsOfDeviceMax })
const clientId = {
  ...s.nullable(s.text),
  description: 'The only MQTT client id that it may connect with.',
}
const certificateName = {
  ...s.nullable(s.text),
  description: 'Common name of the client certificates that stand for it; unique in the service.',
}

export const foreignTopics = {
  ...s.choice(foreignTopicsValues),
  description: [
    'What it does over MQTT on topics that are not its own: `ignore` takes its will, its subscriptions and',
    'its messages, and drops them.',
  ].join(' '),
} as const

const properties = {
  id: { ...deviceId, description: 'The same as apiKey, as paths name it.' },
  apiKey: { ...deviceId, description: 'The MQTT user name, and x-api-key.' },
  name: s.text,
  state: s.choice(deviceStates),
  streamIds: s.listOf(s.uuid),
  clientId,
  certificateName,
  rateLimit: s.eitherOf(rateLimit, s.nothing),
  foreignTopics,
  commandTopic: { ...s.text, description: 'What its own topics of MQTT begin with.' },
  serial: { ...s.nullable(s.text), description: 'What it registered itself as.' },
  mayRegisterAgain: s.boolean,
  createdAt: s.dateTime,
  expiresAt: s.nullable(s.dateTime),
  revokedAt: s.nullable(s.dateTime),
  rotatedAt: s.nullable(s.dateTime),
  previousSecretUntil: {
    ...s.nullable(s.dateTime),
    description: 'Until then the secret before the last rotation is good, too.',
  },
  lastSeen: {
    ...s.eitherOf(
      s.record({ at: s.dateTime, address: s.text, protocol: { ...s.text, examples: ['mqtt'] } }),
      s.nothing,
    ),
    description: 'Written down about once a minute.',
  },
  droppedPublishes: {
    ...s.count,
    description: 'Messages over MQTT to topics that are not its own, since the service started.',
  },
}

export const deviceSchema = s.component('Device', s.record(properties))
export const deviceWithSecretSchema = s.component(
  'DeviceWithSecret',
  s.record({
    ...properties,
    apiSecret: { ...s.text, description: 'The MQTT password, and x-api-secret. Shown this once.' },
  }),
)

const settings = {
  name: { ...s.text, examples: ['boiler 7'] },
  streamIds,
  clientId,
  certificateName,
  rateLimit: s.eitherOf(rateLimit, s.nothing),
  expiresAt: { ...s.nullable(s.text), description: 'RFC 3339, with a zone.' },
  foreignTopics,
}

export const newDeviceSchema = s.component('NewDevice', {
  ...s.record(settings, {
    optional: ['clientId', 'certificateName', 'rateLimit', 'expiresAt', 'foreignTopics'],
  }),
  examples: [{ name: 'boiler 7', streamIds: ['0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'] }],
})

export const changedDeviceSchema = s.component('ChangedDevice', {
  ...s.partial({
    ...settings,
    mayRegisterAgain: {
      ...s.boolean,
      description: 'Lets the device register itself once more, which gives it new secrets.',
    },
  }),
  examples: [{ name: 'boiler 7, left' }],
})

/** Seconds that two secrets of one device can be good at the same time. */
const overlapSMax = 30 * 86_400

export const rotationSchema = s.nullable(
  s.partial({ overlapSeconds: s.integer(0, overlapSMax, { default: 86_400 }) }),
)

export const devicesQuery = s.query({
  ...s.cursorQuery,
  streamId: s.uuid,
  vaultId: { ...s.uuid, description: 'Of a stream of the device.' },
  name: {
    ...s.text,
    description: 'The full name, or its beginning and *; case makes no difference.',
  },
  contains: {
    ...s.text,
    minLength: 1,
    maxLength: 200,
    description: 'A part of the name, in any case, or the beginning of the id.',
  },
  state: s.choice(deviceStates),
})

const table = {
  ...s.text,
  description: [
    'The first line names the columns: `name`, `streamId` (several are separated by spaces) or',
    '`streamName`, and those of `clientId`, `certificateName`, `readingsPerSecond`, `burst`, `expiresAt` and',
    '`foreignTopics` that are needed. An empty cell is as good as none.',
  ].join(' '),
  examples: ['name,streamId\nboiler 7,0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60\n'],
}

const answeredTable = {
  ...s.text,
  description: 'With a first line of names. What would be a formula begins with an apostrophe.',
  examples: [
    'name,apiKey,apiSecret,streamIds,clientId,certificateName,expiresAt,commandTopic\r\nboiler 7,sv_dev_0a1b2c3d4e5f60718293a4b5,shown-this-once,0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60,,,,users/0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f61/devices/sv_dev_0a1b2c3d4e5f60718293a4b5/\r\n',
  ],
}

export const newDevicesBody = {
  content: {
    'application/json': {
      schema: s.describedOnly(
        s.listOf(newDeviceSchema, {
          minItems: 1,
          maxItems: bulkMax,
          examples: [[{ name: 'boiler 7', streamIds: ['0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'] }]],
        }),
      ),
    },
    'text/csv': { schema: s.describedOnly(table) },
  },
}

export const madeDevices = {
  description: 'The devices, in the order of the request.',
  content: {
    'application/json': {
      schema: s.record({ devices: s.listOf(deviceWithSecretSchema) }),
    },
    'text/csv': { schema: answeredTable },
  },
}

type DeviceBody = Static<typeof deviceSchema>

const timeOrNull = (timeUs: number | undefined) => (timeUs === undefined ? null : formatUs(timeUs))

/** The device as the interface shows it: never with its secret. */
export function deviceBody(device: Device, nowUs: number, droppedPublishes = 0): DeviceBody {
  const { id, lastSeen, registered } = device
  return {
    id,
    apiKey: id,
    name: device.name,
    state: stateOf(device, nowUs),
    streamIds: device.streamIds,
    clientId: device.clientId ?? null,
    certificateName: device.certificateName ?? null,
    rateLimit: device.rateLimit ?? null,
    foreignTopics: device.foreignTopics,
    commandTopic: commandTopic(device),
    serial: registered?.serial ?? null,
    mayRegisterAgain: device.mayRegisterAgain,
    createdAt: formatUs(device.createdAtUs),
    expiresAt: timeOrNull(device.expiresAtUs),
    revokedAt: timeOrNull(device.revokedAtUs),
    rotatedAt: timeOrNull(device.rotatedAtUs),
    previousSecretUntil: timeOrNull(device.previousSecretUntilUs),
    lastSeen: lastSeen
      ? { at: formatUs(lastSeen.atUs), address: lastSeen.address, protocol: lastSeen.protocol }
      : null,
    droppedPublishes,
  }
}

export function bodyWithSecret(
  { device, secret }: DeviceWithSecret,
  nowUs: number,
  droppedPublishes = 0,
): Static<typeof deviceWithSecretSchema> {
  return { ...deviceBody(device, nowUs, droppedPublishes), apiSecret: secret }
}
