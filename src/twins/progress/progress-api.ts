import { ledgers } from '../../core/ledger.ts'
import * as s from '../../requests/http/schema.ts'

/* Shapes of what is on its way to a ledger: asset streams, vaults, attachments. */

export const ledgerSchema = s.component('Ledger', s.choice(ledgers))

export const statusSchema = { ...s.text, examples: ['SERVICE_RECEIVED'] }

export const progressSchema = s.component(
  'ProgressEntry',
  s.record({ step: { type: 'integer' }, status: statusSchema, completed_at: s.dateTime }),
)

/** Why it goes no further. */
export const failureSchema = s.nullable(
  s.record(
    {
      error: { ...s.text, description: 'A code, such as `upload_expired`.' },
      message: s.text,
    },
    { examples: [null] },
  ),
)
