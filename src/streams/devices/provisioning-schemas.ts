import {
  component,
  count,
  dateTime,
  describedOnly,
  idParams,
  keyHeaders,
  listOf,
  noContent,
  nullable,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { deviceWithSecret, rateLimit } from './device-schemas.ts'

const provisioningKeyId = { ...text, examples: ['sv_prov_0a1b2c3d4e5f60718293a4b5'] } as const

const properties = {
  id: provisioningKeyId,
  apiKey: provisioningKeyId,
  vaultId: uuid,
  name: text,
  definition: { type: 'object', description: 'Of the stream that each new device gets.' },
  devicesMax: count,
  devicesRegistered: count,
  registrationsPerMinute: count,
  rateLimit: { oneOf: [rateLimit, { type: 'null' }], description: 'Of each device.' },
  createdAt: dateTime,
  expiresAt: nullable(dateTime),
  revokedAt: nullable(dateTime),
}

const provisioningKey = component('ProvisioningKey', record(properties))

export const createProvisioningKey = {
  operationId: 'createProvisioningKey',
  summary: 'Make a key that new devices of a vault register themselves with.',
  description: 'Its secret is shown this once. The key registers devices, and can do nothing else.',
  tags: ['Devices'],
  headers: keyHeaders,
  params: idParams('vaultId'),
  body: describedOnly({
    ...record(
      {
        name: { ...text, examples: ['factory line 2'] },
        definition: {
          type: 'object',
          description: 'A new data stream without its name and vault.',
          examples: [{ type: 'iot_sensor', schema: { temperature: { type: 'number' } } }],
        },
        devicesMax: { type: 'integer', minimum: 1, maximum: 100_000, examples: [1_000] },
        registrationsPerMinute: { type: 'integer', minimum: 1, maximum: 6_000, default: 60 },
        rateLimit,
        expiresAt: nullable(text),
      },
      { optional: ['registrationsPerMinute', 'rateLimit', 'expiresAt'] },
    ),
    examples: [
      {
        name: 'factory line 2',
        definition: { type: 'iot_sensor', schema: { temperature: { type: 'number' } } },
        devicesMax: 1_000,
      },
    ],
  }),
  response: {
    201: component(
      'ProvisioningKeyWithSecret',
      record({ ...properties, apiSecret: { ...text, description: 'Shown this once.' } }),
    ),
  },
} as const

export const listProvisioningKeys = {
  operationId: 'listProvisioningKeys',
  summary: 'List the provisioning keys of a vault.',
  tags: ['Devices'],
  params: idParams('vaultId'),
  response: { 200: listOf(provisioningKey) },
} as const

export const revokeProvisioningKey = {
  operationId: 'revokeProvisioningKey',
  summary: 'Revoke a provisioning key; devices that have registered with it stay.',
  tags: ['Devices'],
  params: record({ vaultId: uuid, provisioningKeyId }),
  response: { 204: noContent },
} as const

export const registerDevice = {
  operationId: 'registerDevice',
  summary: 'Register a new device, with a provisioning key: it gets a stream and credentials.',
  description: [
    'A serial registers once: again is 409, unless its owner has set `mayRegisterAgain`, which gives the',
    'device new credentials and ends the old ones.',
  ].join(' '),
  tags: ['Devices'],
  headers: keyHeaders,
  body: describedOnly({
    ...record({ serial: text, name: text }, { optional: ['name'] }),
    examples: [{ serial: 'SN-0815' }],
  }),
  response: {
    201: record({
      streamId: uuid,
      topic: { ...text, description: 'Where the device publishes its readings.' },
      device: deviceWithSecret,
    }),
  },
} as const
