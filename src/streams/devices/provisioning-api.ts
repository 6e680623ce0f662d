import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import { deviceWithSecretSchema, foreignTopics, rateLimit } from './device-api.ts'
import type { ProvisioningKey } from './provisioning-key.ts'

export const provisioningKeyId = {
  ...s.text,
  examples: ['sv_prov_0a1b2c3d4e5f60718293a4b5'],
} as const

const properties = {
  id: provisioningKeyId,
  apiKey: provisioningKeyId,
  vaultId: s.uuid,
  name: s.text,
  definition: {
    ...s.nullable(s.typed<object>({ type: 'object' })),
    description: 'Of the stream that each new device gets. Null where the fleet has it.',
  },
  fleetId: { ...s.nullable(s.uuid), description: 'The fleet that each new device is of.' },
  devicesMax: s.count,
  devicesRegistered: s.count,
  registrationsPerMinute: s.count,
  rateLimit: { ...s.eitherOf(rateLimit, s.nothing), description: 'Of each device.' },
  foreignTopics,
  createdAt: s.dateTime,
  expiresAt: s.nullable(s.dateTime),
  revokedAt: s.nullable(s.dateTime),
}

export const provisioningKeySchema = s.component('ProvisioningKey', s.record(properties))

export const provisioningKeyWithSecretSchema = s.component(
  'ProvisioningKeyWithSecret',
  s.record({ ...properties, apiSecret: { ...s.text, description: 'Shown this once.' } }),
)

export const newProvisioningKeySchema = s.describedOnly({
  ...s.record(
    {
      name: { ...s.text, examples: ['factory line 2'] },
      definition: {
        type: 'object',
        description: 'A new data stream without its name and vault.',
        examples: [{ type: 'iot_sensor', schema: { temperature: { type: 'number' } } }],
      },
      fleetId: {
        ...s.uuid,
        description:
          'A fleet of the vault, in place of `definition`. The serial of a device is its name in the fleet; what has come under that name is its own.',
      },
      devicesMax: s.integer(1, 100_000, { examples: [1_000] }),
      registrationsPerMinute: s.integer(1, 6_000, { default: 60 }),
      rateLimit,
      foreignTopics,
      expiresAt: s.nullable(s.text),
    },
    {
      optional: [
        'definition',
        'fleetId',
        'registrationsPerMinute',
        'rateLimit',
        'foreignTopics',
        'expiresAt',
      ],
    },
  ),
  examples: [
    {
      name: 'factory line 2',
      definition: { type: 'iot_sensor', schema: { temperature: { type: 'number' } } },
      devicesMax: 1_000,
    },
  ],
})

export const registrationSchema = s.describedOnly({
  ...s.record({ serial: s.text, name: s.text }, { optional: ['name'] }),
  examples: [{ serial: 'SN-0815' }],
})

export const registeredSchema = s.record({
  streamId: s.uuid,
  topic: { ...s.text, description: 'Where the device publishes its readings.' },
  device: deviceWithSecretSchema,
})

const timeOrNull = (timeUs: number | undefined) => (timeUs === undefined ? null : formatUs(timeUs))

/** The key as the interface shows it: never with its secret. */
export function provisioningKeyBody(key: ProvisioningKey): Static<typeof provisioningKeySchema> {
  return {
    id: key.id,
    apiKey: key.id,
    vaultId: key.vaultId,
    name: key.name,
    definition: key.definition ?? null,
    fleetId: key.fleetId ?? null,
    devicesMax: key.devicesMax,
    devicesRegistered: key.devicesRegistered,
    registrationsPerMinute: key.registrationsPerMinute,
    rateLimit: key.rateLimit ?? null,
    foreignTopics: key.foreignTopics,
    createdAt: formatUs(key.createdAtUs),
    expiresAt: timeOrNull(key.expiresAtUs),
    revokedAt: timeOrNull(key.revokedAtUs),
  }
}
