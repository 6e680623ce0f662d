import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import { proposalSchema } from '../../streams/data-streams/bulk-api.ts'
import { dataStream } from '../../streams/data-streams/definition-schemas.ts'
import { dropReasons, type Sample, type UnroutedTopic } from './unrouted-messages.ts'

/** Bytes of a payload that are shown. */
const shownBytes = 1_024

/** A topic has as many bytes at most (connectors/mqtt-broker/guard/text.ts). */
const topicLengthMax = 1_024

const topic = {
  ...s.text,
  minLength: 1,
  maxLength: topicLengthMax,
  examples: ['tele/plug-7/SENSOR'],
} as const

const example = s.record({
  encoding: { ...s.among(['utf8', 'base64']), description: 'Of the payload.' },
  payload: { ...s.text, description: 'The first KiB of it.' },
  bytes: { ...s.count, description: 'How long all of it was.' },
})

export const unroutedTopicSchema = s.component(
  'UnroutedTopic',
  s.record({
    topic,
    count: { ...s.count, description: 'Messages that were dropped.' },
    reason: {
      ...s.choice(dropReasons),
      description: [
        'Why the last of them was: no stream has the topic; it belongs to the service or to a stream that is not',
        "the client's; the key may not send readings; the fleet denies the device; or the fleet has as many streams",
        'as it may have.',
      ].join(' '),
    },
    firstAt: s.dateTime,
    lastAt: s.dateTime,
    clientId: { ...s.text, description: 'Of the client that sent the last of them.' },
    apiKeyId: { ...s.text, description: 'The key, or the device, that it was connected with.' },
    deviceId: { ...s.nullable(s.text), description: 'The device, for a client that is one.' },
    example: { ...example, description: 'The last of them.' },
  }),
)

export const forgottenQuery = s.query({
  topic: { ...topic, description: 'Only this one; all when it is left out.' },
})

export const newStreamOfTopicSchema = s.component(
  'NewStreamOfTopic',
  s.record(
    {
      topic,
      vaultId: { ...s.uuid, examples: ['0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'] },
      name: { ...s.text, minLength: 1, maxLength: 200, description: 'The topic when left out.' },
      preview: {
        ...s.boolean,
        default: false,
        description: 'Answers the proposed definition (200), and makes nothing.',
      },
    },
    { optional: ['name', 'preview'] },
  ),
)

export const streamOfTopicAnswers = {
  200: { ...proposalSchema, description: 'With `preview`: what the stream would be.' },
  201: dataStream,
} as const

export function unroutedTopicBody(found: UnroutedTopic): Static<typeof unroutedTopicSchema> {
  return {
    topic: found.topic,
    count: found.count,
    reason: found.reason,
    firstAt: formatUs(found.firstAtUs),
    lastAt: formatUs(found.lastAtUs),
    clientId: found.clientId,
    apiKeyId: found.apiKeyId,
    deviceId: found.deviceId ?? null,
    example: exampleBody(found.samples.at(-1)),
  }
}

function exampleBody(sample: Sample | undefined): Static<typeof example> {
  const { bytes, length } = sample ?? { bytes: new Uint8Array(0), length: 0 }
  const shown = bytes.subarray(0, shownBytes)
  const text = textOf(shown, shown.length < length)
  return text === undefined
    ? { encoding: 'base64', payload: Buffer.from(shown).toString('base64'), bytes: length }
    : { encoding: 'utf8', payload: text, bytes: length }
}

/** A text, but for the beginning of a character at the end of one that is cut; undefined for what is none. */
function textOf(bytes: Uint8Array, isCut: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, {
      stream: isCut,
    })
  } catch {
    return undefined
  }
}
