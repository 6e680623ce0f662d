import type { TSchema } from 'typebox'

import { alertFields } from '../../alerts/alert-api.ts'
import { ledgers } from '../../core/ledger.ts'
import { keySchema } from '../../identity/keys/key-api.ts'

import type { KnownType } from '../../outbox/events/event-types.ts'
import {
  choice,
  count,
  dateTime,
  listOf,
  nullable,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { assetStreamSchema } from '../../twins/asset-streams/asset-stream-api.ts'
import { assetSchema } from '../../twins/assets/asset-api.ts'
import { attachmentSchema } from '../../twins/attachments/attachment-api.ts'
import {
  streamPermissionSchema,
  vaultPermissionSchema,
} from '../../twins/permissions/permission-api.ts'
import { roles } from '../../twins/rights/right.ts'
import { signatureSchema } from '../../twins/signatures/signature-api.ts'
import { vaultSchema } from '../../twins/vaults/vault-api.ts'
import { verificationResults } from '../../twins/verification/verification.ts'

/** A data stream: its definition is left out, as it can be large. */
const dataStream = record({
  id: uuid,
  streamId: uuid,
  name: text,
  vaultId: uuid,
  type: text,
  status: { ...text, enum: ['created', 'deleted'] },
  endpoint: text,
  createdAt: dateTime,
  tags: { type: 'object', additionalProperties: text },
})

/** Schema of resources whose other fields the specification does not show. */
const identified = {
  type: 'object',
  required: ['id'],
  properties: { id: uuid },
  additionalProperties: true,
} as const

const alert = record({
  ...alertFields,
  streamName: text,
  links: record(
    { alert: text, explain: text, stream: text },
    {
      description:
        'Paths under the address of the service: of pages of the console for `alert` and `stream`, and of an operation for `explain`.',
    },
  ),
  readings: listOf(
    { type: 'object', additionalProperties: true, properties: { timestamp: dateTime } },
    { maxItems: 5, description: 'The newest readings of the stream, as far as they are at hand.' },
  ),
})

const coalesced = {
  count: { ...count, description: 'How often it happened since the event before.' },
  lastAt: { ...dateTime, description: 'When it happened last, by the clock of the service.' },
}

const verification = record({
  id: uuid,
  vault_id: uuid,
  name: text,
  result: choice(verificationResults),
  cid: text,
  network: text,
  tx_hash: { ...text, description: 'Empty as long as it is on no ledger.' },
  checked_at: dateTime,
  problems: listOf(text, { description: 'Why it is not proven: sentences.' }),
})

const changedPermission = record({
  permissionId: uuid,
  vaultId: uuid,
  userId: uuid,
  username: text,
  role: choice(roles),
  expiresAt: nullable(dateTime),
  change: choice(['granted', 'updated', 'revoked']),
})

const ledgerFunds = record({
  id: { ...text, description: 'The network.' },
  name: text,
  ledger: choice(ledgers),
  network: text,
  account: { ...text, description: 'The address to be funded.' },
  anchors_left: { ...count, description: 'How many it can still pay for.' },
  balance: { ...text, description: 'In `unit`, as decimal text.' },
  unit: choice(['drops', 'wei']),
})

const byType: Readonly<Partial<Record<KnownType, TSchema>>> = {
  'vault.data_updated': record({ vaultId: uuid, ...coalesced }),
  'vault.accessed': record({ vaultId: uuid, ...coalesced }),
  'vault.permission_changed': changedPermission,
  'vault.verification_complete': verification,
  'stream.data_received': record({ streamId: uuid, vaultId: uuid, ...coalesced }),
  'stream.alert_triggered': alert,
  'stream.alert_cleared': alert,
  'security.key_created': keySchema,
  'security.key_revoked': keySchema,
  'security.webhook_disabled': record({ id: uuid, url: text, consecutive_failures: count }),
  'security.email_disabled': record({ id: uuid, email: text, consecutive_failures: count }),
  'security.ledger_funds_low': ledgerFunds,
}

const byResource: Readonly<Record<string, TSchema>> = {
  vault: vaultSchema,
  stream: { anyOf: [dataStream, assetStreamSchema] },
  data_attachment: attachmentSchema,
  'vault.permission': vaultPermissionSchema,
  'stream.permission': streamPermissionSchema,
  signature: signatureSchema,
  asset: assetSchema,
}

/** The schema of `data` of an event. */
export function dataSchemaOf(type: KnownType): TSchema {
  return byType[type] ?? byResource[type.slice(0, type.lastIndexOf('.'))] ?? identified
}
