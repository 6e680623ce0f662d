import * as s from '../../src/requests/http/schema.ts'
import { fleetNames, refusedWith } from '../fleet-push/fleet-push-api.ts'

const plain = {
  description: 'What is wrong, and what to do.',
  content: { 'text/plain': { schema: s.describedOnly({ type: 'string' }) } },
}

/** `POST /api/v1/write` of Prometheus. */
export const remoteWriteOperation = {
  operationId: 'remoteWrite',
  summary: 'Take samples that Prometheus writes.',
  description: [
    'Remote write 1.0 and 2.0 of Prometheus. Each sample is a reading (`metric`, `value` and the labels) of the device that',
    'the label `source.deviceField` of the fleet names. `fleet`, `bucket` or `db` names the fleet. 204 means that all samples are on disk;',
    'of a request with refused ones (400) the others are, and those are in the quarantine of their streams.',
  ].join(' '),
  tags: ['Readings'],
  headers: s.keyHeaders,
  querystring: s.query(fleetNames),
  body: {
    content: {
      'application/x-protobuf': { schema: s.describedOnly({ type: 'string', format: 'binary' }) },
    },
  },
  response: {
    204: { description: 'All samples are on disk.', type: 'null' },
    ...refusedWith(plain),
  },
} as const
