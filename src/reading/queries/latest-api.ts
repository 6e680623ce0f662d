import * as s from '../../requests/http/schema.ts'
import { dataPoint } from './data-api.ts'

export const latestSchema = s.record({
  streamId: s.uuid,
  data: { anyOf: [dataPoint, { type: 'null' }] } as const,
})

const latestOfStream = {
  ...dataPoint,
  $id: 'LatestReading',
  description: 'The newest reading of a data stream.',
  required: ['streamId', 'timestamp'],
  properties: { streamId: s.uuid, ...dataPoint.properties },
  examples: [
    {
      streamId: '0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60',
      timestamp: '2026-01-31T10:00:00.000000Z',
      temperature: 21.5,
    },
  ],
}

export const vaultLatestSchema = s.record({
  vaultId: s.uuid,
  data: s.listOf(latestOfStream),
  nextCursor: s.nullable(s.text),
})
