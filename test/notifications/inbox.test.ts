import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  nat,
  oneof,
  record,
} from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type InboxEntryId, newId, type UserId } from '../../src/core/ids.ts'
import {
  emittedTypes,
  forthcomingTypes,
  isCoalesced,
  securityTypes,
} from '../../src/outbox/events/event-types.ts'
import { entryTypes, textOf } from '../../src/telling/notifications/inbox/inbox-entry.ts'
import { dayUs, minuteUs, NotifiedUsers } from '../support/notified-users.ts'

interface ModelEntry {
  readonly resourceId: string
  readonly severity: string | undefined
  readonly expiresAtUs: number
  isRead: boolean
  isArchived: boolean
}

type Step =
  | { readonly kind: 'tell'; readonly severity: string | undefined }
  | { readonly kind: 'readAll' | 'archiveRead' | 'purge' }
  | { readonly kind: 'read' | 'remove' | 'archive'; readonly which: number }
  | { readonly kind: 'wait'; readonly us: number }

const step: Arbitrary<Step> = oneof(
  {
    weight: 6,
    arbitrary: record({
      kind: constant('tell' as const),
      severity: constantFrom(undefined, 'info', 'critical'),
    }),
  },
  {
    weight: 6,
    arbitrary: record({
      kind: constantFrom('read', 'remove', 'archive'),
      which: nat(20),
    }),
  },
  {
    weight: 3,
    arbitrary: record({ kind: constantFrom('readAll', 'archiveRead', 'purge') }),
  },
  {
    weight: 3,
    arbitrary: record({
      kind: constant('wait'),
      us: constantFrom(1, 30 * minuteUs, 60 * minuteUs, dayUs, 10 * dayUs, 30 * dayUs),
    }),
  },
)

/** An inbox that keeps every entry in a list, and counts by looking at all of them. */
class Model {
  entries: ModelEntry[] = []
  told = 0

  listed(nowUs: number): readonly ModelEntry[] {
    return this.entries.filter((one) => !one.isArchived && one.expiresAtUs > nowUs).toReversed()
  }
}

async function take(users: NotifiedUsers, model: Model, one: Step): Promise<void> {
  const listed = model.listed(users.nowUs)
  const ids = await users.entryIds()
  switch (one.kind) {
    case 'tell': {
      // Each of another resource: a repetition would not be told.
      const resourceId = `v${model.told++}`
      const { severity } = one
      await users.happen({ resourceId, severity })
      const expiresAtUs = users.nowUs + 30 * dayUs
      model.entries.push({ resourceId, severity, expiresAtUs, isRead: false, isArchived: false })
      return
    }
    case 'readAll':
      await users.inbox.readAll(users.ada)
      for (const entry of model.entries) entry.isRead = true
      return
    case 'archiveRead': {
      const count = await users.inbox.archivable(users.ada, undefined)
      expect(count).toBe(listed.filter(({ isRead }) => isRead).length)
      await users.tests.attempt(...users.inbox.archivingRead(users.ada))
      for (const entry of model.entries) entry.isArchived ||= entry.isRead
      return
    }
    case 'purge':
      await users.inbox.purge()
      return
    case 'wait':
      users.nowUs += one.us
      return
    case 'read':
    case 'archive':
    case 'remove': {
      const index = one.which % Math.max(1, ids.length)
      const [id, entry] = [ids[index], listed[index]]
      if (id === undefined || entry === undefined) return
      if (one.kind === 'read') {
        expect((await users.inbox.read(users.ada, id))?.isRead).toBe(true)
        entry.isRead = true
      } else if (one.kind === 'archive') {
        expect(await users.inbox.archivable(users.ada, [id])).toBe(1)
        await users.tests.attempt(...users.inbox.archiving(users.ada, [id]))
        entry.isArchived = true
      } else {
        expect(await users.inbox.remove(users.ada, id)).toBe(true)
        model.entries = model.entries.filter((other) => other !== entry)
      }
      return
    }
    default:
      one satisfies never
  }
}

function critical({ severity }: ModelEntry): boolean {
  return severity === 'critical'
}

async function assertSame(users: NotifiedUsers, model: Model): Promise<void> {
  const listed = model.listed(users.nowUs)
  const unread = listed.filter(({ isRead }) => !isRead)
  for (const [wish, expected] of [
    [{ unreadOnly: false }, listed],
    [{ unreadOnly: true }, unread],
    [{ unreadOnly: false, severity: 'critical' }, listed.filter(critical)],
    [{ unreadOnly: true, severity: 'critical' }, unread.filter(critical)],
  ] as const) {
    const page = await users.inbox.list(users.ada, { ...wish, offset: 1, limit: 3 })
    expect(page).toMatchObject({ total: expected.length, unread: unread.length })
    expect(page.entries.map(({ resource_id: id }) => id)).toEqual(
      expected.slice(1, 4).map(({ resourceId }) => resourceId),
    )
    expect(page.entries.map(({ isRead }) => isRead)).toEqual(
      expected.slice(1, 4).map(({ isRead }) => isRead),
    )
  }
  expect(await users.inbox.unread(users.ada)).toBe(unread.length)
}

const page = { unreadOnly: false, offset: 0, limit: 20 }

describe('an inbox', () => {
  test('has what a list of all entries would have, after any steps', async () => {
    await assert(
      asyncProperty(array(step, { maxLength: 25 }), async (steps) => {
        await using users = await NotifiedUsers.open()
        const model = new Model()
        for (const one of steps) {
          await take(users, model, one)
          await assertSame(users, model)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('loses an entry after 30 days, whether it was removed by then or not', async () => {
    await using users = await NotifiedUsers.open()
    await users.happen()
    const [id] = await users.entryIds()
    users.nowUs += 30 * dayUs - 1
    expect(await users.inbox.unread(users.ada)).toBe(1)
    users.nowUs += 1

    expect(await users.inbox.unread(users.ada)).toBe(0)
    expect(await users.inbox.list(users.ada, page)).toEqual({ entries: [], total: 0, unread: 0 })
    expect(await users.inbox.read(users.ada, id as InboxEntryId)).toBeUndefined()
    expect(await users.inbox.remove(users.ada, id as InboxEntryId)).toBe(false)
    await users.inbox.purge()
    for (const table of ['inbox_entries', 'inbox_counts'] as const) {
      if (table === 'inbox_counts') users.nowUs += 60 * minuteUs
      await users.inbox.purge()
      expect(await users.tests.state.selectFrom(table).selectAll().execute()).toEqual([])
    }
  })

  test('is changed by nobody but its owner', async () => {
    await using users = await NotifiedUsers.open()
    const bob = newId<UserId>()
    await users.happen()
    await users.happen({ ownerId: bob })
    const [id] = await users.entryIds()

    expect(await users.inbox.read(bob, id as InboxEntryId)).toBeUndefined()
    expect(await users.inbox.remove(bob, id as InboxEntryId)).toBe(false)
    expect(await users.inbox.archivable(bob, [id as InboxEntryId])).toBe(0)
    await users.tests.attempt(...users.inbox.archiving(bob, [id as InboxEntryId]))
    await users.inbox.readAll(bob)
    await users.tests.attempt(...users.inbox.archivingRead(bob))

    expect(await users.entryIds()).toEqual([id])
    expect(await users.inbox.unread(users.ada)).toBe(1)
    expect(await users.inbox.unread(bob)).toBe(0)
  })

  test('has words for every event that goes there', () => {
    const told = [...emittedTypes, ...forthcomingTypes, ...securityTypes].filter(
      (type) => !isCoalesced(type),
    )
    for (const type of told) {
      const text = textOf({ type, data: JSON.stringify({ name: 'boiler 7' }) })
      expect(entryTypes).toContain(text.type)
      expect(text.message).toBe(`${text.title}: boiler 7`)
    }
  })

  test.each([
    [{ value: 91.5, threshold: 80 }, ' (temperature.max: 91.5, limit 80)'],
    [{ value: 'stuck', threshold: null }, ' (temperature.max: stuck)'],
    [{ value: null, threshold: null }, ' (temperature.max)'],
  ])('says of an alert which rule has found what: %j', (found, said) => {
    const alert = { streamName: 'boiler 7', ruleId: 'temperature.max', ...found }
    const { message } = textOf({ type: 'stream.alert_triggered', data: JSON.stringify(alert) })
    expect(message).toBe(`Stream alert: boiler 7${said}`)
  })

  test('cuts a name that is too long for a glance', () => {
    const data = JSON.stringify({ name: '🔥'.repeat(300) })

    const { message } = textOf({ type: 'vault.created', data })

    expect(message).toBe(`Vault created: ${'🔥'.repeat(200)}…`)
  })
})
