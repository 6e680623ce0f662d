import { categoryOf } from '../../../outbox/events/categories.ts'
import { isCoalesced, isNeverEmitted, type KnownType } from '../../../outbox/events/event-types.ts'
import { type Channel, channels, type Gate, type Preferences } from './preferences.ts'

/** What one level has to say about an event and a channel. */
export interface Verdict {
  readonly level: 'type' | 'global' | 'category' | 'event' | 'receivers'
  readonly allows: boolean
  /** Why, as a sentence. */
  readonly reason: string
}

/** The channels that an event goes to: those that every level allows (decisions.md#preferences). */
export function effectiveChannels(preferences: Preferences, type: KnownType): ReadonlySet<Channel> {
  return new Set(
    channels.filter((channel) =>
      verdictsOf(preferences, type, channel).every(({ allows }) => allows),
    ),
  )
}

/**
 * What each level says, from the widest on. Global AND category (if there is one) AND the event's own
 * channels, or else those of the category: so a category that is off beats an event that is on, and
 * what is off globally beats all.
 */
export function verdictsOf(
  preferences: Preferences,
  type: KnownType,
  channel: Channel,
): readonly Verdict[] {
  const category = preferences.category_preferences[categoryOf(type)]
  const event = preferences.event_preferences[type]
  return [
    ofType(type),
    ofGlobal(preferences, channel),
    ofCategory(category, channel, event !== undefined),
    ofEvent(event, channel),
  ]
}

function ofType(type: KnownType): Verdict {
  if (isNeverEmitted(type)) {
    return { level: 'type', allows: false, reason: 'such events never happen' }
  }
  return isCoalesced(type)
    ? { level: 'type', allows: false, reason: 'such events go to webhooks only' }
    : { level: 'type', allows: true, reason: 'such events go to every channel' }
}

function ofGlobal({ global_preferences: global }: Preferences, channel: Channel): Verdict {
  const allows = global[`${channel}_enabled`]
  return { level: 'global', allows, reason: `${channel}_enabled is ${allows}` }
}

function ofCategory(gate: Gate | undefined, channel: Channel, hasOverride: boolean): Verdict {
  const level = 'category'
  if (!gate) return { level, allows: true, reason: 'not set: follows the global settings' }
  if (!gate.enabled) return { level, allows: false, reason: 'the category is off' }
  if (hasOverride) return { level, allows: true, reason: 'the event has channels of its own' }
  return channelVerdict(level, gate, channel)
}

function ofEvent(gate: Gate | undefined, channel: Channel): Verdict {
  const level = 'event'
  if (!gate) return { level, allows: true, reason: 'not set: follows the category' }
  if (!gate.enabled) return { level, allows: false, reason: 'the event is off' }
  return channelVerdict(level, gate, channel)
}

function channelVerdict(level: Verdict['level'], gate: Gate, channel: Channel): Verdict {
  const allows = gate.channels.includes(channel)
  return { level, allows, reason: `its channels ${allows ? '' : 'do not '}have ${channel}` }
}
