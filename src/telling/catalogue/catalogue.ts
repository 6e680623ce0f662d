import type { Static } from 'typebox'
import { categoryOf } from '../../outbox/events/categories.ts'
import {
  formatOf,
  isCoalesced,
  isDeduplicated,
  type KnownType,
  knownTypes,
  neverEmittedTypes,
} from '../../outbox/events/event-types.ts'
import type { JsonSchema } from '../../requests/http/schema.ts'
import { withoutIds } from '../../requests/http/validation.ts'
import type { catalogueEntrySchema } from './catalogue-api.ts'
import { dataSchemaOf } from './event-data-schemas.ts'

type CatalogueEntry = Static<typeof catalogueEntrySchema>

/** The others never happen. */
const producedTypes: ReadonlySet<KnownType> = new Set([
  'vault.created',
  'vault.completed',
  'vault.failed',
  'vault.error',
  'vault.deleted',
  'stream.created',
  'stream.completed',
  'stream.failed',
  'stream.error',
  'stream.deleted',
  'data_attachment.created',
  'data_attachment.completed',
  'data_attachment.failed',
  'data_attachment.deleted',
  'signature.created',
  'signature.completed',
  'signature.failed',
  'signature.error',
  'asset.created',
  'asset.deployed',
  'asset.error',
  'vault.permission.granted',
  'vault.permission.updated',
  'vault.permission.revoked',
  'stream.permission.granted',
  'stream.permission.updated',
  'stream.permission.revoked',
  'vault.permission_changed',
  'security.key_created',
  'security.key_revoked',
  'security.webhook_disabled',
  'security.email_disabled',
  'security.ledger_funds_low',
  'stream.data_received',
  'vault.data_updated',
  'vault.accessed',
  'vault.verification_complete',
  'stream.alert_triggered',
  'stream.alert_cleared',
])

const neverEmitted: ReadonlySet<KnownType> = new Set(neverEmittedTypes)

/** Every type that can be asked for. */
export const catalogue: readonly CatalogueEntry[] = knownTypes.map((type) => ({
  event_type: type,
  category: categoryOf(type),
  format: formatOf(type),
  emitted: !neverEmitted.has(type),
  produced: producedTypes.has(type),
  filters: filtersOf(type),
  coalesced: isCoalesced(type),
  deduplicated: isDeduplicated(type),
  data_schema: withoutIds(dataSchemaOf(type)) as JsonSchema,
}))

/** Permissions are filtered like what they are about (decisions.md#filters-of-webhooks). */
function filtersOf(type: KnownType): CatalogueEntry['filters'] {
  switch (type.slice(0, type.indexOf('.'))) {
    case 'vault':
      return ['vault_ids']
    case 'stream':
      return ['stream_ids']
    default:
      return []
  }
}
