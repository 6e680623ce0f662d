import {
  cursorQuery,
  idParams,
  listOf,
  nullable,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { dataPoint } from './data-schemas.ts'

export const readLatest = {
  operationId: 'readLatestReading',
  summary: 'Read the newest reading of a data stream.',
  description: 'The one with the greatest time, whenever it came; null when there is none.',
  tags: ['Readings'],
  params: idParams('streamId'),
  response: { 200: record({ streamId: uuid, data: { anyOf: [dataPoint, { type: 'null' }] } }) },
} as const

const latestOfStream = {
  ...dataPoint,
  $id: 'LatestReading',
  description: 'The newest reading of a data stream.',
  required: ['streamId', 'timestamp'],
  properties: { streamId: uuid, ...(dataPoint['properties'] as object) },
  examples: [
    {
      streamId: '0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60',
      timestamp: '2026-01-31T10:00:00.000000Z',
      temperature: 21.5,
    },
  ],
}

export const readVaultLatest = {
  operationId: 'readLatestOfVault',
  summary: 'Read the newest reading of each data stream of a vault.',
  description: 'In the order in which the streams were made; those without a reading are left out.',
  tags: ['Readings'],
  params: idParams('vaultId'),
  querystring: query(cursorQuery),
  response: {
    200: record({ vaultId: uuid, data: listOf(latestOfStream), nextCursor: nullable(text) }),
  },
} as const
