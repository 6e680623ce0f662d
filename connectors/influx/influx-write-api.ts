import * as s from '../../src/requests/http/schema.ts'
import { fleetNames, refusedWith } from '../fleet-push/fleet-push-api.ts'

const lines = {
  content: {
    'text/plain': {
      schema: s.describedOnly({
        type: 'string',
        description: 'Lines of InfluxDB line protocol.',
        examples: ['cpu,host=web-1 usage_idle=98.1 1769853600000000000\n'],
      }),
    },
  },
}

const precision = {
  ...s.text,
  description:
    'The unit of the times: ns (when left out), us, ms, s, m or h, and n and u as in InfluxDB 1.',
}

const fleetWords = ['fleet', 'bucket', 'db'] as const

/** Clients send more parameters than these, which are ignored. */
const others = { additionalProperties: { type: 'string' } } as const

const written = { description: 'All lines are on disk.', type: 'null' } as const

const errorOfV1 = s.record({ error: { ...s.text, description: 'What is wrong, and what to do.' } })

const errorOfV2 = s.record({
  code: { ...s.text, examples: ['not found'] },
  message: { ...s.text, description: 'What is wrong, and what to do.' },
})

const about = [
  'Each line is a reading of the device that the tag `source.deviceField` of the fleet names; the first line of a',
  'new device makes its stream. 204 means that all lines are on disk. Of some that were refused (400, partial write) the',
  'others are on disk, and those are in the quarantine of their streams.',
].join(' ')

/** `POST /write` of InfluxDB 1. */
export const writeV1 = {
  operationId: 'writeDatabaseLines',
  summary: 'Write lines as to InfluxDB 1.',
  description: `\`db\`, \`bucket\` or \`fleet\` names a fleet. ${about}`,
  tags: ['Readings'],
  headers: s.keyHeaders,
  querystring: {
    ...s.record(
      { ...fleetNames, precision, rp: s.text, consistency: s.text },
      {
        optional: [...fleetWords, 'precision', 'rp', 'consistency'],
      },
    ),
    ...others,
  },
  body: lines,
  response: { 204: written, ...refusedWith(errorOfV1) },
} as const

/** `POST /api/v2/write` of InfluxDB 2 and 3. */
export const writeV2 = {
  operationId: 'writeBucketLines',
  summary: 'Write lines as to InfluxDB 2.',
  description: `\`bucket\`, \`db\` or \`fleet\` names a fleet. ${about}`,
  tags: ['Readings'],
  headers: s.keyHeaders,
  querystring: {
    ...s.record(
      { ...fleetNames, precision, org: s.text, orgID: s.text },
      {
        optional: [...fleetWords, 'precision', 'org', 'orgID'],
      },
    ),
    ...others,
  },
  body: lines,
  response: { 204: written, ...refusedWith(errorOfV2) },
} as const
