import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventType } from '../../src/outbox/events/event-types.ts'
import {
  emittedTypes,
  forthcomingTypes,
  securityTypes,
} from '../../src/outbox/events/event-types.ts'
import { eventContent } from '../../src/telling/mail/mail-content.ts'
import { MailLinks } from '../../src/telling/mail/mail-links.ts'

const links = new MailLinks(
  { digest: () => 'd'.repeat(64), matches: () => true },
  'https://vault.example/iot',
)

/** These are for webhooks only, and have no words. */
const unmailed: readonly EventType[] = [
  'vault.accessed',
  'vault.data_updated',
  'stream.data_received',
]

function isMailed(type: EventType): boolean {
  return !unmailed.includes(type)
}

function whereTo(type: EventType, data: object, resourceId = 'r1'): string {
  const event = { type, atUs: 1_700_000_000_000_000, resourceId, data: JSON.stringify(data) }
  return eventContent(event, links).link.href
}

test.each<[EventType, object, string]>([
  ['vault.created', {}, 'vaults/r1'],
  ['vault.verification_complete', { result: 'proven' }, 'vaults/r1'],
  ['stream.created', { streamId: 'r1' }, 'streams/r1'],
  ['stream.completed', { asset_code: 'A7' }, 'record/asset-stream/r1'],
  ['stream.alert_triggered', { alertId: 'a1', streamId: 'r1' }, 'record/alert/a1'],
  ['stream.alert_cleared', { alertId: 'a1', streamId: 'r1' }, 'record/alert/a1'],
  ['data_attachment.completed', {}, 'record/attachment/r1'],
  ['security.key_created', {}, 'record/key/r1'],
  ['security.webhook_disabled', {}, 'record/webhook/r1'],
  ['security.email_disabled', {}, 'record/email/r1'],
  ['vault.permission.granted', { vault_id: 'v1' }, 'vaults/v1'],
  ['stream.permission.updated', { stream_id: 's1' }, 'record/asset-stream/s1'],
  // Nothing is left of these, or they have no place of their own.
  ['security.key_revoked', {}, 'inbox'],
  ['security.ledger_funds_low', {}, 'inbox'],
  ['vault.deleted', {}, 'inbox'],
  ['stream.deleted', {}, 'inbox'],
  ['vault.permission.revoked', { vault_id: 'v1' }, 'inbox'],
  ['stream.permission.revoked', { stream_id: 's1' }, 'inbox'],
  ['signature.failed', {}, 'inbox'],
  ['asset.error', {}, 'inbox'],
])('a mail about %s with %j leads to %s', (type, data, path) => {
  expect(whereTo(type, data)).toBe(`https://vault.example/iot/console/${path}`)
})

test('a mail leads to one place of the console, whatever is said of its event', () => {
  const types = fc.constantFrom(
    ...[...emittedTypes, ...forthcomingTypes, ...securityTypes].filter(isMailed),
  )
  const id = fc.string({ unit: 'binary', maxLength: 20 })
  fc.assert(
    fc.property(types, id, id, (type, resourceId, alertId) => {
      const { origin, pathname, search, hash } = new URL(whereTo(type, { alertId }, resourceId))

      expect(origin + search + hash).toBe('https://vault.example')
      expect(pathname).toMatch(
        /^\/iot\/console\/(?:inbox|(?:vaults|streams|record\/[a-z-]+)\/[^/]*)$/,
      )
    }),
  )
})
