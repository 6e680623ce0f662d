import type { Static } from 'typebox'
import { foreignTopics } from '../../access/auth/foreign-topics.ts'
import { permissions, scopes } from '../../access/auth/scopes.ts'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import { type Key, kindOf, kinds } from './key.ts'

/** Seconds that two secrets of one key can be good at the same time. */
const overlapSMax = 7 * 86_400

export const keyId = { ...s.text, examples: ['sv_live_0a1b2c3d4e5f60718293a4b5'] }
const kind = s.choice(kinds)

const foreign = {
  ...s.choice(foreignTopics),
  description: [
    'What its MQTT clients do on topics that are not its own: `ignore` takes wills, subscriptions and',
    'messages, and drops them.',
  ].join(' '),
} as const

const properties = {
  id: { ...keyId, description: 'The same as apiKey, as paths name it.' },
  apiKey: keyId,
  name: s.text,
  kind,
  permission: { ...s.text, enum: permissions },
  scopes: s.listOf({ ...s.text, enum: scopes }),
  userId: s.uuid,
  createdAt: s.dateTime,
  expiresAt: s.nullable(s.dateTime),
  rotatedAt: s.nullable(s.dateTime),
  previousSecretUntil: {
    ...s.nullable(s.dateTime),
    description: 'Until then the secret before the last rotation is good, too.',
  },
  lastUsedAt: s.nullable(s.dateTime),
  droppedPublishes: {
    ...s.count,
    description: 'Messages over MQTT to topics that are not its own, since the service started.',
  },
  foreignTopics: foreign,
}

export const keySchema = s.component('Key', s.record(properties))

export const keyWithSecretSchema = s.component(
  'KeyWithSecret',
  s.record({ ...properties, apiSecret: { ...s.text, description: 'Shown this once.' } }),
)

export const keysQuery = s.query({ ...s.cursorQuery, userId: s.text })

export const newKeySchema = s.component(
  'NewKey',
  s.record(
    {
      name: { ...s.text, minLength: 1, maxLength: 200, examples: ['boiler room'] },
      kind,
      permission: s.choice(permissions),
      scopes: s.listOf(s.choice(scopes), {
        minItems: 1,
        maxItems: scopes.length,
        description: 'With the permission `custom`, and only with it.',
      }),
      userId: {
        ...s.text,
        description: 'For another user: needs `platform:admin`.',
        examples: ['0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'],
      },
      expiresAt: s.nullable({
        ...s.text,
        maxLength: 64,
        description: 'RFC 3339, with a zone.',
        examples: ['2027-01-31T00:00:00Z'],
      }),
      foreignTopics: { ...foreign, default: 'refuse' },
    },
    { optional: ['scopes', 'userId', 'expiresAt', 'foreignTopics'] },
  ),
)

export const changedKeySchema = s.component('ChangedKey', s.record({ foreignTopics: foreign }))

export const rotationSchema = s.nullable(
  s.partial({ overlapSeconds: s.integer(0, overlapSMax, { default: 86_400 }) }),
)

const orNull = (timeUs: number | undefined) => (timeUs === undefined ? null : formatUs(timeUs))

/** The key as the interface shows it: never with its secret. */
export function keyBody(key: Key): Static<typeof keySchema> {
  return {
    id: key.id,
    apiKey: key.id,
    name: key.name,
    kind: kindOf(key.id),
    permission: key.permission,
    scopes: key.scopes,
    userId: key.userId,
    createdAt: formatUs(key.createdAtUs),
    expiresAt: orNull(key.expiresAtUs),
    rotatedAt: orNull(key.rotatedAtUs),
    previousSecretUntil: orNull(key.previousSecretUntilUs),
    lastUsedAt: orNull(key.lastUsedAtUs),
    droppedPublishes: key.droppedPublishes,
    foreignTopics: key.foreignTopics,
  }
}

/** A new key, or a new secret of one: the only answer that shows it. */
export function keyWithSecretBody(key: Key, secret: string): Static<typeof keyWithSecretSchema> {
  return { ...keyBody(key), apiSecret: secret }
}
