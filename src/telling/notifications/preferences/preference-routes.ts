import type { FastifyPluginAsync } from 'fastify'
import type { UserId } from '../../../core/ids.ts'
import { categoryOf } from '../../../outbox/events/categories.ts'
import { formatOf, isNeverEmitted, type KnownType } from '../../../outbox/events/event-types.ts'
import type { CallerOf } from '../../../requests/http/server.ts'
import type { Posts } from '../../../requests/idempotency/posts.ts'
import { type Verdict, verdictsOf } from './effective.ts'
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

/** Whether anybody is there who could be told, whatever the preferences say, and who, or why not. */
export type Reach = Pick<Verdict, 'allows' | 'reason'>

export interface PreferenceRoutesNeeds {
  readonly reach: {
    readonly mail: (userId: UserId) => Promise<Reach>
    readonly webhooks: (userId: UserId, type: KnownType) => Promise<Reach>
  }
  readonly preferences: PreferenceStore
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** Events that the caller wants to be notified of, and how (decisions.md#preferences). */
export function preferenceRoutes(needs: PreferenceRoutesNeeds): FastifyPluginAsync {
  const { preferences, posts, reach, callerOf } = needs
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
        const { userId } = callerOf(request)
        const type = request.query.event_type
        return explanation(type, {
          preferences: await preferences.read(userId),
          mail: await reach.mail(userId),
          webhooks: await reach.webhooks(userId, type),
        })
      },
    )
  }
}

interface Explained {
  readonly preferences: Preferences
  readonly mail: Reach
  readonly webhooks: Reach
}

function explanation(type: KnownType, { preferences, mail, webhooks }: Explained): object {
  const reach: Readonly<Record<Channel, Reach>> = { email: mail, in_app: inbox, push }
  return {
    event_type: type,
    category: categoryOf(type),
    channels: Object.fromEntries(
      channels.map((channel) => {
        const receivers: Verdict = { level: 'receivers', ...reach[channel] }
        const levels = [...verdictsOf(preferences, type, channel), receivers]
        return [channel, { delivered: levels.every(({ allows }) => allows), levels }]
      }),
    ),
    webhooks: explainedWebhooks(type, webhooks),
  }
}

const inbox: Reach = { allows: true, reason: 'every user has an inbox' }
const push: Reach = { allows: false, reason: 'nothing is sent to devices by this version' }

function explainedWebhooks(type: KnownType, { allows, reason }: Reach): object {
  if (isNeverEmitted(type)) return { delivered: false, reason: 'such events never happen' }
  if (formatOf(type) === 'none') return { delivered: false, reason: 'for inbox and mail only' }
  return { delivered: allows, reason }
}
