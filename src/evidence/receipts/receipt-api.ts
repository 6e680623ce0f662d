import { merklePath } from '../../anchors/proofs/proof-api.ts'
import type { MerklePath } from '../../ledgers/merkle/merkle.ts'
import { outcomes, receiptFormat } from '../../ledgers/seals/receipt-format.ts'
import { askedTime } from '../../requests/http/asked-range.ts'
import { errorDetail } from '../../requests/http/openapi/error-answers.ts'
import * as s from '../../requests/http/schema.ts'
import { sealFields } from '../seals/seal-api.ts'
import { missingReasons } from './found-reading.ts'

export const receiptQuery = s.record({ timestamp: askedTime('Of the reading.') })

const problem = s.record({ error: s.text, message: s.text })

const offset = { ...s.count, description: 'The place of the entry in the journal.' }

const arrival = s.record({
  receivedAt: s.nullable(s.dateTime),
  how: s.record({
    type: { ...s.text, description: 'The type of the stream.' },
    protocol: { ...s.nullable(s.text), description: 'Of the source, where it names one.' },
    source: { ...s.nullable(s.text), description: 'Who sent it, of a refused reading.' },
    sender: { ...s.nullable(s.text), description: 'Which of several devices sent it.' },
  }),
  kind: s.nullable(s.choice(['received', 'imported', 'redriven'])),
})

const definition = s.record({
  version: { ...s.nullable(s.integer(1)), description: 'The version that judged it.' },
  createdAt: s.nullable(s.dateTime),
  isExact: {
    ...s.boolean,
    description: 'Whether the entry names the version; else it was the newest one at receipt.',
  },
})

const verdict = s.record({
  accepted: s.boolean,
  reason: s.nullable(s.text),
  message: s.nullable(s.text),
  details: s.listOf(errorDetail),
})

const window = s.record({
  start: s.dateTime,
  end: s.dateTime,
  revision: s.count,
  count: s.count,
  computedAt: s.nullable(s.dateTime),
})

const alert = s.record({
  alertId: s.uuid,
  ruleId: s.text,
  step: s.count,
  cause: { ...s.text, description: '`reading`, or `timer` for a step that follows from it.' },
  from: s.text,
  to: s.text,
  at: s.dateTime,
  journalOffset: offset,
  eventId: s.nullable(s.uuid),
})

const attempt = s.record({
  attempt: s.integer(1),
  attemptedAt: s.dateTime,
  statusCode: s.typed<number | null>({ type: ['integer', 'null'] }),
  durationMs: s.number,
  delivered: s.boolean,
  message: s.text,
})

const delivery = s.record({
  deliveryId: s.uuid,
  channel: { ...s.text, description: '`webhook` or `mail`.' },
  receiverId: { ...s.uuid, description: 'The webhook, or the recipient of mail.' },
  state: s.text,
  attempts: s.listOf(attempt),
})

const event = s.record({
  eventId: s.uuid,
  type: { ...s.nullable(s.text), description: 'Null for an event that is kept no longer.' },
  at: s.nullable(s.dateTime),
  deliveries: s.listOf(delivery),
  inbox: s.listOf(s.record({ entryId: s.uuid, createdAt: s.dateTime, title: s.text })),
})

const sealOfReading = s.record({
  ...sealFields,
  path: s.typed<MerklePath | null>({
    anyOf: [merklePath, s.nothing],
    description: 'From the text of the reading to the root.',
  }),
  problem: { ...s.nullable(problem), description: 'Why there is no path.' },
})

const missing = s.record({
  what: s.text,
  reason: s.choice(missingReasons),
  message: s.text,
})

const reading = s.record({
  outcome: s.choice(outcomes),
  reading: s.typed<({ readonly timestamp: string } & Readonly<Record<string, unknown>>) | null>({
    type: ['object', 'null'],
    description: 'The time and all fields, those of `extra` beside the declared ones.',
    required: ['timestamp'],
    additionalProperties: true,
    properties: { timestamp: s.dateTime },
  }),
  text: { ...s.nullable(s.text), description: 'Its canonical text, which seals have the hash of.' },
  digest: {
    ...s.nullable(s.text),
    description: 'Different for each reading of its time, in hex.',
  },
  arrival,
  journal: s.record({ offset: s.nullable(offset), problem: s.nullable(problem) }),
  definition,
  verdict,
  windows: s.listOf(window),
  alerts: s.listOf(alert),
  events: s.listOf(event),
  seal: {
    ...s.nullable(sealOfReading),
    description:
      'The newest seal with a path to this reading; without one, the newest of its stretch.',
  },
  missing: s.listOf(missing),
})

export const receiptSchema = s.component(
  'Receipt',
  s.record({
    format: s.choice([receiptFormat]),
    streamId: s.uuid,
    timestamp: s.dateTime,
    answeredAt: s.dateTime,
    readings: s.listOf(reading),
    hasMore: { ...s.boolean, description: 'Whether there are more readings of that time.' },
  }),
)
