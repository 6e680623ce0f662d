import type { FastifyPluginAsync } from 'fastify'
import { categoryOf } from '../../events/categories.ts'
import { formatOf, type KnownType, neverEmittedTypes } from '../../events/event-types.ts'
import type { CallerOf } from '../../http/server.ts'
import type { Posts } from '../../idempotency/posts.ts'
import { verdictsOf } from './effective.ts'
import {
  changePreferences,
  explainPreferences,
  readPreferences,
  resetPreferences,
} from './preference-schemas.ts'
import type { PreferenceStore } from './preference-store.ts'
import {
  type Channel,
  channels,
  defaultPreferences,
  type Preferences,
  type PreferencesChange,
} from './preferences.ts'

export interface PreferenceRoutesNeeds {
  readonly preferences: PreferenceStore
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** What the caller wants to be told, and how (D47). */
export function preferenceRoutes(needs: PreferenceRoutesNeeds): FastifyPluginAsync {
  const { preferences, posts, callerOf } = needs
  const path = '/notifications/preferences'
  return async (app) => {
    app.get(
      path,
      { schema: readPreferences, config: { scope: 'notifications:read' } },
      async (request) => preferences.read(callerOf(request).userId),
    )

    app.put<{ Body: PreferencesChange }>(
      path,
      { schema: changePreferences, config: { scope: 'notifications:write' } },
      async (request) => preferences.change(callerOf(request).userId, request.body),
    )

    app.post(
      `${path}/reset`,
      { schema: resetPreferences, config: { scope: 'notifications:write' } },
      async (request, reply) => {
        const { userId } = callerOf(request)
        return await posts.answer({ request, reply, userId }, async () => ({
          statusCode: 200,
          body: defaultPreferences,
          changes: preferences.reset(userId),
        }))
      },
    )

    app.get<{ Querystring: { event_type: KnownType } }>(
      `${path}/explain`,
      { schema: explainPreferences, config: { scope: 'notifications:read' } },
      async (request) => {
        const own = await preferences.read(callerOf(request).userId)
        return explanation(own, request.query.event_type)
      },
    )
  }
}

const neverEmitted: ReadonlySet<KnownType> = new Set(neverEmittedTypes)

function explanation(preferences: Preferences, type: KnownType): object {
  return {
    event_type: type,
    category: categoryOf(type),
    channels: Object.fromEntries(
      channels.map((channel) => [channel, explainedChannel(preferences, type, channel)]),
    ),
    webhooks: explainedWebhooks(type),
  }
}

function explainedChannel(preferences: Preferences, type: KnownType, channel: Channel): object {
  const levels = verdictsOf(preferences, type, channel)
  return { delivered: levels.every(({ allows }) => allows), levels }
}

function explainedWebhooks(type: KnownType): object {
  if (neverEmitted.has(type)) return { delivered: false, reason: 'this event never happens' }
  if (formatOf(type) === 'none') return { delivered: false, reason: 'for inbox and mail only' }
  return { delivered: true, reason: 'preferences never hold back webhooks' }
}
