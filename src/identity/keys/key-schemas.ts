import { permissions, scopes } from '../../access/auth/scopes.ts'
import {
  component,
  count,
  cursorListOf,
  cursorQuery,
  dateTime,
  keyHeaders,
  listOf,
  noContent,
  nullable,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { kinds } from './key.ts'

/** Seconds that two secrets of one key can be good at the same time. */
const overlapSMax = 7 * 86_400

const keyId = { ...text, examples: ['sv_live_0a1b2c3d4e5f60718293a4b5'] } as const
const kind = { ...text, enum: kinds } as const
const permission = { ...text, enum: permissions } as const
const scopeList = listOf({ ...text, enum: scopes })

const properties = {
  id: { ...keyId, description: 'The same as apiKey, as paths name it.' },
  apiKey: keyId,
  name: text,
  kind,
  permission,
  scopes: scopeList,
  userId: uuid,
  createdAt: dateTime,
  expiresAt: nullable(dateTime),
  rotatedAt: nullable(dateTime),
  previousSecretUntil: {
    ...nullable(dateTime),
    description: 'Until then the secret before the last rotation is good, too.',
  },
  lastUsedAt: nullable(dateTime),
  droppedPublishes: {
    ...count,
    description:
      'Messages over MQTT to topics that are none of its own, since the service was started.',
  },
}

export const key = component('Key', record(properties))
const keyWithSecret = component(
  'KeyWithSecret',
  record({ ...properties, apiSecret: { ...text, description: 'Shown this once.' } }),
)

const params = record({ keyId })

export const createKey = {
  operationId: 'createKey',
  summary: 'Make a key; its secret is shown this once.',
  tags: ['Keys'],
  headers: keyHeaders,
  body: component(
    'NewKey',
    record(
      {
        name: { ...text, minLength: 1, maxLength: 200, examples: ['boiler room'] },
        kind,
        permission,
        scopes: {
          ...scopeList,
          minItems: 1,
          maxItems: scopes.length,
          description: 'With the permission `custom`, and only with it.',
        },
        userId: {
          ...text,
          description: 'For another user: needs `platform:admin`.',
          examples: ['0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'],
        },
        expiresAt: nullable({
          ...text,
          maxLength: 64,
          description: 'RFC 3339, with a zone.',
          examples: ['2027-01-31T00:00:00Z'],
        }),
      },
      { optional: ['scopes', 'userId', 'expiresAt'] },
    ),
  ),
  response: { 201: keyWithSecret },
} as const

export const listKeys = {
  operationId: 'listKeys',
  summary: 'List the keys of the calling user, or of another one with platform:admin.',
  tags: ['Keys'],
  querystring: query({ ...cursorQuery, userId: text }),
  response: { 200: cursorListOf(key) },
} as const

export const readKey = {
  operationId: 'readKey',
  summary: 'Read a key.',
  tags: ['Keys'],
  params,
  response: { 200: key },
} as const

export const rotateKey = {
  operationId: 'rotateKey',
  summary: 'Give a key a new secret; the one before stays good for a while.',
  tags: ['Keys'],
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
  response: { 200: keyWithSecret },
} as const

export const revokeKey = {
  operationId: 'revokeKey',
  summary: 'Revoke a key: its tokens and sessions end at once.',
  tags: ['Keys'],
  params,
  response: { 204: noContent },
} as const
