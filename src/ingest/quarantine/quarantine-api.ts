import type { Static } from 'typebox'
import { refusalRemedy } from '../../core/refusal-catalogue.ts'
import { formatUs } from '../../core/time.ts'
import { askedTime, askedTimeOrNumber } from '../../requests/http/asked-range.ts'
import { errorDetail } from '../../requests/http/openapi/error-answers.ts'
import * as s from '../../requests/http/schema.ts'
import { draftSchema } from '../../streams/data-streams/stream-draft.ts'
import { type HeldReading, payloadText } from './quarantine-store.ts'

/** Ids that one request may name: what a quarantine holds at most. */
const idsMax = 10_000

export const entryId = { ...s.count, description: 'Offset of the reading in the journal.' }

export const reason = { ...s.text, examples: ['schema_mismatch'] }

const remedy = { ...s.text, description: 'What to do about it, for people.' }

export const entryFields = {
  id: entryId,
  reason,
  message: s.text,
  remedy,
  details: s.listOf(errorDetail),
  payload: { ...s.text, description: 'The bytes as they came.' },
  encoding: { ...s.among(['utf8', 'base64']), description: 'Of the payload.' },
  timestamp: s.nullable(s.dateTime),
  receivedAt: s.dateTime,
  source: { ...s.text, examples: ['http 192.0.2.7'] },
  topic: {
    ...s.nullable(s.text),
    description:
      'Of the message: a topic of MQTT or Kafka, a subject, a routing key; null without.',
  },
}

export const entrySchema = s.component('QuarantineEntry', s.record(entryFields))

const receipt = {
  start: askedTime('Received then or later.'),
  end: askedTime('Received before then.'),
}

export const filterParameters = {
  reason: { ...s.text, description: 'A comma list of reasons; every reason when absent.' },
  ...receipt,
}

export const listQuery = s.query({ ...filterParameters, ...s.cursorQuery })

export const clearQuery = s.query({
  ids: { ...s.text, description: 'A comma list of ids; every entry when absent.' },
  ...filterParameters,
})

export const listSchema = s.record({
  streamId: s.uuid,
  entries: s.listOf(entrySchema),
  nextCursor: s.nullable(s.text),
})

export const summarySchema = s.record({
  streamId: s.uuid,
  entries: s.count,
  reasons: s.listOf(s.record({ reason, entries: s.integer(1) })),
})

const chosen = {
  ids: s.listOf(entryId, { minItems: 1, maxItems: idsMax, description: 'Only these entries.' }),
  reason: {
    description: 'Only entries with this reason, or one of these.',
    ...s.eitherOf(reason, s.listOf(reason, { minItems: 1, maxItems: 100 })),
  },
  start: askedTimeOrNumber('Received then or later.'),
  end: askedTimeOrNumber('Received before then.'),
}

const examples = [{ reason: 'schema_mismatch' }]

export const chosenSchema = s.nullable(s.partial(chosen, { examples }))

export const triedSchema = s.nullable(
  s.partial({ ...chosen, definition: draftSchema }, { examples }),
)

const judged = {
  accepted: {
    ...s.count,
    description: 'Readings that fit now: a message may hold several.',
  },
  remaining: { ...s.count, description: 'Entries that were judged and stay.' },
  stillRefused: s.listOf(
    s.record({ id: entryId, reason, message: s.text, remedy, details: s.listOf(errorDetail) }),
    {
      maxItems: 100,
      description: 'Why: of the first 100 that stay.',
    },
  ),
}

export const redrivenSchema = s.record({
  streamId: s.uuid,
  redriven: { ...s.count, description: 'Entries that have left the quarantine.' },
  ...judged,
})

export const trialSchema = s.record({
  streamId: s.uuid,
  redriven: { ...s.count, description: 'Entries that would leave the quarantine.' },
  ...judged,
})

export const clearedAnswer = {
  ...s.noContent,
  headers: { 'X-Deleted-Count': { description: 'How many there were.', schema: s.count } },
}

export function entryBody(held: HeldReading): Static<typeof entrySchema> {
  const { id, reason: why, message, details, timestampUs, receivedAtUs, source } = held
  return {
    id,
    reason: why,
    message,
    remedy: refusalRemedy(why),
    details,
    ...payloadText(held),
    timestamp: timestampUs === undefined ? null : formatUs(timestampUs),
    receivedAt: formatUs(receivedAtUs),
    source,
    topic: held.context?.topic ?? null,
  }
}
