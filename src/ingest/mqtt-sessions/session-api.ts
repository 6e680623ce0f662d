import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import type { SessionView } from './session-view.ts'

/** Text of filters that one answer has: a session may have a thousand long ones. */
const filtersLengthMax = 256 * 1024

const properties = {
  clientId: { ...s.text, description: 'As the client has named itself.', examples: ['boiler-7'] },
  deviceId: {
    ...s.nullable(s.text),
    description: 'Of a device: each device has clients of its own.',
  },
  kept: { ...s.boolean, description: 'Whether it outlives its connection (no clean session).' },
  connected: s.boolean,
  since: { ...s.dateTime, description: 'When the client connected, or was last connected.' },
  createdAt: s.dateTime,
  expiresAt: {
    ...s.nullable(s.dateTime),
    description: 'When it ends unless the client comes back before; null while it is connected.',
  },
  apiKeyId: { ...s.nullable(s.text), description: 'What it is connected with.' },
  address: s.nullable(s.text),
  subscriptions: { ...s.count, description: 'How many filters.' },
  queuedMessages: { ...s.count, description: 'Not acknowledged yet, of QoS 1 and 2.' },
  queuedBytes: { ...s.count, description: 'Of their topics and payloads.' },
}

export const sessionSchema = s.component('MqttSession', s.record(properties))

const filterSchema = s.record({ filter: s.text, qos: s.typed<number>({ enum: [0, 1, 2] }) })

export const sessionWithFiltersSchema = s.component(
  'MqttSessionWithFilters',
  s.record({
    ...properties,
    filters: {
      ...s.listOf(filterSchema),
      description: 'As many as fit into 256 KiB of text.',
    },
  }),
)

export const clientId = { ...s.text, examples: ['boiler-7'] }

export const deviceQuery = s.query({
  deviceId: { ...s.text, description: 'The device, for a client that is one.' },
})

export function sessionBody(session: SessionView): Static<typeof sessionSchema> {
  const { deviceId, isKept, connection, expiresAtUs } = session
  return {
    clientId: session.clientId,
    deviceId: deviceId ?? null,
    kept: isKept,
    connected: connection !== undefined,
    since: formatUs(session.sinceUs),
    createdAt: formatUs(session.createdAtUs),
    expiresAt: expiresAtUs === undefined ? null : formatUs(expiresAtUs),
    apiKeyId: connection?.apiKeyId ?? null,
    address: connection?.address ?? null,
    subscriptions: session.filters.count,
    queuedMessages: session.queued,
    queuedBytes: session.queuedBytes,
  }
}

/** A session with as many of its filters as fit. */
export function sessionWithFiltersBody(
  session: SessionView,
): Static<typeof sessionWithFiltersSchema> {
  return { ...sessionBody(session), filters: filtersOf(session) }
}

function filtersOf({ filters }: SessionView): readonly Static<typeof filterSchema>[] {
  const shown: Static<typeof filterSchema>[] = []
  let length = 0
  for (const one of filters.all()) {
    length += one.filter.length
    if (length > filtersLengthMax) break
    shown.push(one)
  }
  return shown
}
