import { describe, expect, test } from 'vitest'
import { type FilteredEvent, filterAgainst } from '../../src/telling/webhooks/webhook-filters.ts'

const [vault, stream, template, owner] = ['vault', 'stream', 'template', 'owner']

function event(type: string, rest: Partial<FilteredEvent> = {}): FilteredEvent {
  return {
    type,
    ownerId: owner,
    resourceId: 'resource',
    vaultId: undefined,
    streamId: undefined,
    templateId: undefined,
    severity: undefined,
    ...rest,
  }
}

describe('resource filters', () => {
  const ofVault = { resourceVaultIds: [vault] }
  const ofStream = { resourceStreamIds: [stream] }
  const ofBoth = { ...ofVault, ...ofStream }
  const none = { resourceVaultIds: [], resourceStreamIds: [] }

  test.each([
    ['vault.created', { vaultId: vault }, ofVault, true],
    ['vault.created', { vaultId: 'other' }, ofVault, false],
    ['vault.permission.granted', { vaultId: vault }, ofVault, true],
    ['vault.created', { vaultId: vault }, ofStream, false],
    ['stream.created', { streamId: stream }, ofStream, true],
    ['stream.created', { streamId: 'other' }, ofStream, false],
    ['stream.permission.revoked', { streamId: stream }, ofStream, true],
    ['stream.created', { streamId: stream, vaultId: vault }, ofVault, false],
    ['vault.created', { vaultId: vault }, ofBoth, true],
    ['stream.created', { streamId: stream }, ofBoth, true],
    ['data_attachment.created', { vaultId: vault, streamId: stream }, ofBoth, false],
    ['signature.completed', { vaultId: vault }, ofVault, false],
    ['asset.created', {}, ofStream, false],
    ['asset.created', {}, none, true],
    ['asset.created', {}, {}, true],
  ] as const)('%s of %j with %j', (type, about, filters, passes) => {
    const verdict = filterAgainst(filters, event(type, about))
    expect(verdict).toBe(passes ? undefined : 'resource_filters')
  })
})

describe('filters of the token interface', () => {
  test.each([
    [{ vaultIds: [vault] }, { vaultId: vault }, undefined],
    [{ vaultIds: [vault] }, {}, 'filters.vaultIds'],
    [{ templateIds: [template] }, { templateId: template }, undefined],
    [{ templateIds: [template] }, { vaultId: vault }, 'filters.templateIds'],
    [{ userIds: [owner] }, {}, undefined],
    [{ userIds: ['other'] }, {}, 'filters.userIds'],
    [{ vaultIds: [vault], userIds: ['other'] }, { vaultId: vault }, 'filters.userIds'],
  ] as const)('%j and %j', (filters, about, against) => {
    expect(filterAgainst(filters, event('vault.accessed', about))).toBe(against)
  })
})

describe('the filter of severities', () => {
  test.each([
    [['critical'], 'critical', undefined],
    [['critical', 'warning'], 'warning', undefined],
    [['critical'], 'warning', 'filters.severities'],
    [[], 'info', undefined],
    [['critical'], undefined, undefined],
  ] as const)('%j and an event with %s', (severities, severity, against) => {
    const told = event('stream.alert_triggered', { severity })
    expect(filterAgainst({ severities }, told)).toBe(against)
  })
})
