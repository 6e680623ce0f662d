import { describe, expect, test } from 'vitest'
import { newId, type UserId } from '../../src/core/ids.ts'
import { type Category, categories, categoryOf } from '../../src/outbox/events/categories.ts'
import {
  type EventType,
  isCoalesced,
  isNeverEmitted,
  knownTypes,
} from '../../src/outbox/events/event-types.ts'
import { effectiveChannels } from '../../src/telling/notifications/preferences/effective.ts'
import {
  type Channel,
  changedPreferences,
  channels,
  defaultPreferences,
  type Gate,
  type Preferences,
} from '../../src/telling/notifications/preferences/preferences.ts'
import { NotifiedUsers } from '../support/notified-users.ts'

/** The states that a category or an event can be in, as far as one channel is concerned. */
const gateStates = ['absent', 'off', 'on with it', 'on without it'] as const

type GateState = (typeof gateStates)[number]

interface Case {
  readonly isGlobalOn: boolean
  readonly category: GateState
  readonly event: GateState
}

const cases: readonly Case[] = [true, false].flatMap((isGlobalOn) =>
  gateStates.flatMap((category) => gateStates.map((event) => ({ isGlobalOn, category, event }))),
)

/**
 * What decisions.md#preferences says, once more: global AND category (if present) AND (event
 * override, else category channels).
 */
function oracle({ isGlobalOn, category, event }: Case): boolean {
  if (!isGlobalOn || category === 'off') return false
  if (event !== 'absent') return event === 'on with it'
  return category === 'absent' || category === 'on with it'
}

function gateOf(state: GateState, concerned: readonly Channel[]): Gate | undefined {
  if (state === 'absent') return undefined
  const others = channels.filter((channel) => !concerned.includes(channel))
  return { enabled: state !== 'off', channels: state === 'on without it' ? others : concerned }
}

function preferencesIn(one: Case, type: EventType, concerned: readonly Channel[]): Preferences {
  const category = gateOf(one.category, concerned)
  const event = gateOf(one.event, concerned)
  const isOn = (channel: Channel) => concerned.includes(channel) === one.isGlobalOn
  return {
    global_preferences: {
      email_enabled: isOn('email'),
      in_app_enabled: isOn('in_app'),
      push_enabled: isOn('push'),
      frequency: 'REAL_TIME',
    },
    category_preferences: category ? { [categoryOf(type)]: category } : {},
    event_preferences: event ? { [type]: event } : {},
  }
}

const happening = knownTypes.filter((type) => !isNeverEmitted(type)) as readonly EventType[]
const toPeople = happening.filter((type) => !isCoalesced(type))

const expectedCategories: Readonly<Record<string, Category>> = {
  'vault.created': 'vault_notifications',
  'vault.verification_complete': 'vault_notifications',
  'vault.permission.granted': 'permission_notifications',
  'vault.permission_changed': 'permission_notifications',
  'stream.permission.updated': 'permission_notifications',
  'stream.alert_triggered': 'stream_notifications',
  'stream.deleted': 'stream_notifications',
  'data_attachment.failed': 'data_attachment_notifications',
  'signature.completed': 'signature_notifications',
  'asset.deployed': 'asset_notifications',
  'security.key_created': 'security_notifications',
}

describe('an event goes to a channel', () => {
  test.each(channels)('%s: as the oracle says, in each of all cases', (channel) => {
    for (const type of toPeople) {
      for (const one of cases) {
        const preferences = preferencesIn(one, type, [channel])
        const isDelivered = effectiveChannels(preferences, type).has(channel)
        expect([type, one, isDelivered]).toEqual([type, one, oracle(one)])
      }
    }
  })

  test('never, when so many of its kind happen that nobody would read them', () => {
    for (const type of happening.filter(isCoalesced)) {
      expect(effectiveChannels(defaultPreferences, type).size).toBe(0)
    }
  })

  test.each(Object.entries(expectedCategories))('%s by the category %s', (type, category) => {
    expect(categoryOf(type)).toBe(category)
  })

  test('each category has some, so that none is set in vain', () => {
    expect(new Set(happening.map(categoryOf))).toEqual(new Set(categories))
  })

  test('when it is told: the inbox as the oracle says, webhooks always', async () => {
    await using users = await NotifiedUsers.open()
    const ofEachCategory = categories.map(
      (category) => toPeople.find((type) => categoryOf(type) === category) as EventType,
    )
    for (const type of ofEachCategory) {
      for (const one of cases) {
        const ownerId = newId<UserId>()
        const preferences = JSON.stringify(preferencesIn(one, type, ['email', 'in_app']))
        await users.tests.commit(
          users.tests.state
            .insertInto('notification_preferences')
            .values({ owner_id: ownerId, preferences }),
          ...users.recorded({ type, ownerId }),
        )
        const told = users.told.at(-1)
        const entries = await users.entryIds(ownerId)
        expect([type, one, entries.length === 1]).toEqual([type, one, oracle(one)])
        expect(told?.ownerId).toBe(ownerId)
        expect([type, one, told?.channels.has('email')]).toEqual([type, one, oracle(one)])
      }
    }
  })
})

describe('preferences', () => {
  test('are merged level by level, entry by entry', () => {
    const changed = changedPreferences(
      changedPreferences(defaultPreferences, {
        global_preferences: { email_enabled: false },
        category_preferences: { vault_notifications: { enabled: false } },
        event_preferences: { 'vault.created': { channels: ['in_app', 'in_app'] } },
      }),
      {
        category_preferences: { vault_notifications: { channels: ['push', 'email'] } },
        event_preferences: { 'vault.deleted': { enabled: false } },
      },
    )

    expect(changed).toEqual({
      global_preferences: { ...defaultPreferences.global_preferences, email_enabled: false },
      category_preferences: {
        ...defaultPreferences.category_preferences,
        vault_notifications: { enabled: false, channels: ['email', 'push'] },
      },
      event_preferences: {
        'vault.created': { enabled: true, channels: ['in_app'] },
        'vault.deleted': { enabled: false, channels: ['email', 'in_app'] },
      },
    })
  })

  test('go back to the default one by one with null', () => {
    const changed = changedPreferences(defaultPreferences, {
      category_preferences: {
        vault_notifications: { enabled: false },
        asset_notifications: { enabled: false },
      },
      event_preferences: { 'vault.created': { enabled: false } },
    })

    const back = changedPreferences(changed, {
      category_preferences: { vault_notifications: null, asset_notifications: null },
      event_preferences: { 'vault.created': null },
    })

    expect(back).toEqual(defaultPreferences)
  })

  test('that are changed at the same time are all kept', async () => {
    await using users = await NotifiedUsers.open()
    const types = ['vault.created', 'vault.deleted', 'stream.created', 'asset.error'] as const

    await Promise.all(
      types.map((type) =>
        users.preferences.change(users.ada, { event_preferences: { [type]: { enabled: false } } }),
      ),
    )

    const { event_preferences: kept } = await users.preferences.read(users.ada)
    expect(Object.keys(kept).toSorted()).toEqual(types.toSorted())
  })
})
