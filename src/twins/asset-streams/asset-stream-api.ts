import type { Static } from 'typebox'
import * as s from '../../requests/http/schema.ts'
import {
  failureSchema,
  ledgerSchema,
  progressSchema,
  statusSchema,
} from '../progress/progress-api.ts'
import type { NewAssetStream } from './asset-stream.ts'

/** A page of vaults shows up to 20,000 asset streams: together they must fit into one answer. */
const descriptionLengthMax = 1_000

/**
 * 1 to 20 printable characters of ASCII without space and slash, which is what both a code of the XRP Ledger and
 * a part of a path can be: none is `XRP`, which the ledger keeps for its own currency, or a step of a path.
 */
const assetCode = {
  ...s.text,
  maxLength: 20,
  pattern: '^(?!XRP$|\\.{1,2}$)[!-.0-~]+$',
  description: 'Printable ASCII without space and `/`; not `XRP`, `.` or `..`.',
  examples: ['GOLD'],
}

const description = s.nullable({
  ...s.text,
  maxLength: descriptionLengthMax,
  examples: ['bars in vault 3'],
})

export const assetStreamSchema = s.component(
  'AssetStream',
  s.record({
    id: s.uuid,
    created_at: s.dateTime,
    asset_code: { ...s.text, examples: ['GOLD'] },
    description: s.nullable(s.text),
    ledger: ledgerSchema,
    tx_hash: s.text,
    status: statusSchema,
    issuer: s.text,
    distribution_wallet: s.text,
    mapping: s.text,
    metadata_cid: s.text,
    progress: s.listOf(progressSchema),
    failure: failureSchema,
  }),
)

export const newAssetStreamSchema = s.component(
  'NewAssetStream',
  s.record({ asset_code: assetCode, description }),
)

export const assetStreamChangeSchema = s.component('AssetStreamChange', s.partial({ description }))

export function newAssetStream(body: Static<typeof newAssetStreamSchema>): NewAssetStream {
  return { assetCode: body.asset_code, description: body.description }
}
