/** Which events a webhook is about; what is empty or missing limits nothing. */
export interface WebhookFilters {
  /**
   * `resource_filters`: with one of them set, events of other resources are left out
   * (decisions.md#filters-of-webhooks).
   */
  readonly resourceVaultIds?: readonly string[]
  readonly resourceStreamIds?: readonly string[]
  /** `filters` of the token interface: an event has to meet each of them. */
  readonly vaultIds?: readonly string[]
  readonly templateIds?: readonly string[]
  readonly userIds?: readonly string[]
  /** Severities of alerts: events of anything else have none, and are not kept back. */
  readonly severities?: readonly string[]
}

/** What filters look at. */
export interface FilteredEvent {
  readonly type: string
  readonly ownerId: string
  readonly resourceId: string
  readonly vaultId: string | undefined
  readonly streamId: string | undefined
  readonly templateId: string | undefined
  readonly severity: string | undefined
}

/** The filter that keeps an event from a webhook, by its name; undefined: none does. */
export function filterAgainst(filters: WebhookFilters, event: FilteredEvent): string | undefined {
  if (!matchesResource(filters, event)) return 'resource_filters'
  const { vaultIds, templateIds, userIds, severities } = filters
  if (!matches(vaultIds, event.vaultId)) return 'filters.vaultIds'
  if (!matches(templateIds, event.templateId)) return 'filters.templateIds'
  if (!matches(userIds, event.ownerId)) return 'filters.userIds'
  if (event.severity !== undefined && !matches(severities, event.severity)) {
    return 'filters.severities'
  }
  return undefined
}

function matchesResource(
  { resourceVaultIds = [], resourceStreamIds = [] }: WebhookFilters,
  { type, resourceId, vaultId, streamId }: FilteredEvent,
): boolean {
  if (resourceVaultIds.length + resourceStreamIds.length === 0) return true
  // Permissions of vaults and streams have types that begin with these, too.
  if (type.startsWith('vault.')) return resourceVaultIds.includes(vaultId ?? resourceId)
  if (type.startsWith('stream.')) return resourceStreamIds.includes(streamId ?? resourceId)
  return false
}

function matches(wanted: readonly string[] = [], found: string | undefined): boolean {
  return wanted.length === 0 || (found !== undefined && wanted.includes(found))
}
