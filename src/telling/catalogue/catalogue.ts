import { type Category, categoryOf } from '../../outbox/events/categories.ts'
import {
  type EventFormat,
  formatOf,
  isCoalesced,
  isDeduplicated,
  type KnownType,
  knownTypes,
  neverEmittedTypes,
} from '../../outbox/events/event-types.ts'
import type { JsonSchema } from '../../requests/http/schema.ts'
import { withoutIds } from '../../requests/http/validation.ts'
import { dataSchemaOf } from './event-data-schemas.ts'

/** What there is to know of one type of events. */
export interface CatalogueEntry {
  readonly event_type: KnownType
  readonly category: Category
  /** How webhooks get it; `none` for what goes to inbox and mail only. */
  readonly format: EventFormat
  /** False for what can be subscribed to, and never happens. */
  readonly emitted: boolean
  /** Whether something in this version makes it happen. */
  readonly produced: boolean
  /** The keys of `resource_filters` that let it through. */
  readonly filters: readonly string[]
  readonly coalesced: boolean
  readonly deduplicated: boolean
  readonly data_schema: JsonSchema
}

/** The other types come with their domains: signatures, assets, attachments, permissions. */
const producedTypes: ReadonlySet<KnownType> = new Set([
  'vault.created',
  'vault.deleted',
  'stream.created',
  'stream.deleted',
  'security.key_created',
  'security.key_revoked',
  'security.webhook_disabled',
  'security.email_disabled',
  'stream.data_received',
  'vault.data_updated',
  'vault.accessed',
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
function filtersOf(type: KnownType): readonly string[] {
  switch (type.slice(0, type.indexOf('.'))) {
    case 'vault':
      return ['vault_ids']
    case 'stream':
      return ['stream_ids']
    default:
      return []
  }
}
