import type { Category } from '../../../outbox/events/categories.ts'
import type { KnownType } from '../../../outbox/events/event-types.ts'

/** Ways to tell a user of something; `push` has no effect here, but can be set. Webhooks are none of them. */
export const channels = ['email', 'in_app', 'push'] as const

export type Channel = (typeof channels)[number]

/** `DAILY_DIGEST` is stored, and nothing follows from it. */
export const frequencies = ['REAL_TIME', 'DAILY_DIGEST'] as const

/** What one level says. */
export interface Gate {
  readonly enabled: boolean
  readonly channels: readonly Channel[]
}

/** Events that a user wants to be notified of, and how: as the API shows it, and as it is stored. */
export interface Preferences {
  readonly global_preferences: {
    readonly email_enabled: boolean
    readonly in_app_enabled: boolean
    readonly push_enabled: boolean
    readonly frequency: (typeof frequencies)[number]
  }
  readonly category_preferences: Readonly<Partial<Record<Category, Gate>>>
  readonly event_preferences: Readonly<Partial<Record<KnownType, Gate>>>
}

/** What is to be changed: what is not there keeps its value, and null goes back to the default. */
export interface PreferencesChange {
  readonly global_preferences?: Partial<Preferences['global_preferences']>
  readonly category_preferences?: Readonly<Partial<Record<Category, Partial<Gate> | null>>>
  readonly event_preferences?: Readonly<Partial<Record<KnownType, Partial<Gate> | null>>>
}

const open: Gate = { enabled: true, channels: ['email', 'in_app'] }

/** Signatures and assets have no category until one is made: they follow the global settings. */
export const defaultPreferences: Preferences = {
  global_preferences: {
    email_enabled: true,
    in_app_enabled: true,
    push_enabled: false,
    frequency: 'REAL_TIME',
  },
  category_preferences: {
    vault_notifications: open,
    stream_notifications: open,
    data_attachment_notifications: open,
    permission_notifications: open,
    security_notifications: open,
  },
  event_preferences: {},
}

/** Merges a change into each of the three levels by itself. */
export function changedPreferences(
  preferences: Preferences,
  change: PreferencesChange,
): Preferences {
  return {
    global_preferences: { ...preferences.global_preferences, ...change.global_preferences },
    category_preferences: mergedGates('category_preferences', preferences, change),
    event_preferences: mergedGates('event_preferences', preferences, change),
  }
}

type Gates = Readonly<Record<string, Gate | undefined>>

function mergedGates(
  level: 'category_preferences' | 'event_preferences',
  preferences: Preferences,
  change: PreferencesChange,
): Gates {
  const merged: Record<string, Gate | undefined> = { ...preferences[level] }
  const defaults: Gates = defaultPreferences[level]
  for (const [name, wanted] of Object.entries(change[level] ?? {})) {
    if (wanted === null) {
      const gate = defaults[name]
      if (gate) merged[name] = gate
      else delete merged[name]
      continue
    }
    const gate = { ...(merged[name] ?? open), ...wanted }
    merged[name] = { ...gate, channels: channels.filter((one) => gate.channels.includes(one)) }
  }
  return merged
}
