import type { Static } from 'typebox'
import type { ConsoleSession, SessionTerms } from '../../access/auth/console-session.ts'
import { scopes } from '../../access/auth/scopes.ts'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'

const keyId = { ...s.text, examples: ['sv_live_0a1b2c3d4e5f60718293a4b5'] }

const terms = {
  expiresAt: { ...s.dateTime, description: 'Then it is over, however much it is used.' },
  idleExpiresAt: { ...s.dateTime, description: 'Then it is over, unless it is used before.' },
}

const addressOrNull = (of: string) => ({
  ...s.nullable(s.uri),
  description: `Null: there is no ${of}.`,
})

const serviceSchema = s.record({
  version: { ...s.text, examples: ['0.1.0'] },
  http: { ...s.uri, examples: ['https://vault.example'] },
  mqtt: { ...addressOrNull('MQTT without TLS'), examples: ['mqtt://vault.example:1883'] },
  mqtts: { ...addressOrNull('MQTT over TLS'), examples: [null] },
  store: s.choice(['duckdb', 'questdb'], { description: 'What the time series are in.' }),
  mail: { ...s.boolean, description: 'Whether it sends mail.' },
})

/** The service that a session is of. */
export type ServiceFacts = Static<typeof serviceSchema>

export const currentSessionSchema = s.component(
  'CurrentConsoleSession',
  s.record({
    id: s.uuid,
    user: s.record({ id: s.uuid, username: { ...s.text, examples: ['ada'] } }),
    apiKeyId: keyId,
    scopes: s.listOf({ ...s.text, enum: scopes }),
    ...terms,
    service: serviceSchema,
  }),
)

export const sessionSchema = s.component(
  'ConsoleSession',
  s.record({
    id: s.uuid,
    apiKeyId: keyId,
    keyName: { ...s.text, examples: ['boiler room'] },
    createdAt: s.dateTime,
    lastUsedAt: s.dateTime,
    ...terms,
    address: { ...s.text, description: 'Where the browser signed in from.' },
    current: { ...s.boolean, description: 'Whether it is the one of this request.' },
  }),
)

export const sessionsQuery = s.query(s.cursorQuery)

/** A session as a list shows it. */
export interface ShownSession {
  readonly session: ConsoleSession
  readonly terms: SessionTerms
  readonly keyName: string
  readonly isCurrent: boolean
}

export function sessionBody(shown: ShownSession): Static<typeof sessionSchema> {
  const { session, keyName, isCurrent, terms: known } = shown
  return {
    id: session.id,
    apiKeyId: session.apiKeyId,
    keyName,
    createdAt: formatUs(session.createdAtUs),
    lastUsedAt: formatUs(known.lastUsedAtUs),
    ...termsBody(known),
    address: session.address,
    current: isCurrent,
  }
}

export function termsBody({ expiresAtUs, idleExpiresAtUs }: SessionTerms) {
  return { expiresAt: formatUs(expiresAtUs), idleExpiresAt: formatUs(idleExpiresAtUs) }
}
