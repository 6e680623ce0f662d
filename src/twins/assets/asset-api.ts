import type { Static } from 'typebox'
import { invalidParameter } from '../../core/errors.ts'
import { ledgers } from '../../core/ledger.ts'
import * as s from '../../requests/http/schema.ts'
import {
  failureSchema,
  ledgerSchema,
  progressSchema,
  statusSchema,
} from '../progress/progress-api.ts'
import { amountOf, type NewAsset, precisionMax } from './asset.ts'

export const assetSchema = s.component(
  'Asset',
  s.record({
    id: s.uuid,
    created_at: s.dateTime,
    stream_id: s.uuid,
    supply: { ...s.text, description: 'In full units.', examples: ['21000000'] },
    precision: { ...s.count, description: 'Decimal places of a full unit.' },
    status: statusSchema,
    ledger: ledgerSchema,
    tx_hash: { ...s.text, description: 'Of the transaction that it comes to be with.' },
    failure: failureSchema,
    progress: s.listOf(progressSchema),
  }),
)

/** The digits of 2^63-1. */
const supplyDigitsMax = 19

export const newAssetSchema = s.component(
  'NewAsset',
  s.record(
    {
      supply: {
        ...s.text,
        maxLength: supplyDigitsMax,
        pattern: '^[1-9][0-9]*$',
        description:
          'In full units: digits without sign, exponent and leading zeros. With its decimal places it is 2^63-1 at most.',
        examples: ['21000000'],
      },
      precision: s.integer(0, precisionMax, { description: 'Decimal places of a full unit.' }),
      ledger: s.choice(ledgers, { description: 'That of the asset stream without it.' }),
    },
    { optional: ['ledger'] },
  ),
)

/**
 * The asset that a body describes.
 *
 * @throws DomainError `invalid_request`
 */
export function newAsset({ supply, precision, ledger }: Static<typeof newAssetSchema>): NewAsset {
  if (amountOf({ supply, precision }) === undefined) {
    throw invalidParameter('supply', `with ${precision} decimal places is more than 2^63-1`)
  }
  return { supply, precision, ledger }
}
