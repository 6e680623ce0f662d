import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import type { UserId } from '../../../core/ids.ts'
import { categoryOf } from '../../../outbox/events/categories.ts'
import { formatOf, isNeverEmitted, type KnownType } from '../../../outbox/events/event-types.ts'
import type { CallerOf } from '../../../requests/http/server.ts'
import type { Posts } from '../../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../../requests/operations/operation.ts'
import { type Verdict, verdictsOf } from './effective.ts'
import * as api from './preference-api.ts'
import type { PreferenceStore } from './preference-store.ts'
import { type Channel, defaultPreferences, type Preferences } from './preferences.ts'

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
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Notifications'] })
    addReading(add, needs)
    addChanging(add, needs)
  }
}

function addReading(add: AddOperation, { preferences, reach }: PreferenceRoutesNeeds): void {
  add('GET /notifications/preferences', {
    operationId: 'readNotificationPreferences',
    summary: 'Read of what you are notified, and how.',
    scope: 'notifications:read',
    answers: { 200: api.preferencesSchema },
    handler: ({ caller }) => preferences.read(caller.userId),
  })

  add('GET /notifications/preferences/explain', {
    operationId: 'explainNotificationPreferences',
    summary: 'Say to which channels a type of events goes, and which level decides.',
    description:
      'The last level is who receives it: without a mail server or an address that is ACTIVE nothing is mailed.',
    scope: 'notifications:read',
    query: api.explanationQuery,
    answers: { 200: api.explanationSchema },
    handler: async ({ caller: { userId }, query: { event_type: type } }) =>
      explanation(type, {
        preferences: await preferences.read(userId),
        mail: await reach.mail(userId),
        webhooks: await reach.webhooks(userId, type),
      }),
  })
}

function addChanging(add: AddOperation, { preferences }: PreferenceRoutesNeeds): void {
  add('PUT /notifications/preferences', {
    operationId: 'changeNotificationPreferences',
    summary: 'Change of what you are notified.',
    description: 'Each level is merged by itself, and so is each category and event in it.',
    scope: 'notifications:write',
    body: api.preferencesChangeSchema,
    answers: { 200: api.preferencesSchema },
    handler: ({ caller, body }) => preferences.change(caller.userId, body),
  })

  add('POST /notifications/preferences/reset', {
    operationId: 'resetNotificationPreferences',
    summary: 'Go back to the default preferences.',
    scope: 'notifications:write',
    answers: { 200: api.preferencesSchema },
    effect: async ({ caller }) => ({
      statusCode: 200,
      body: defaultPreferences,
      changes: preferences.reset(caller.userId),
    }),
  })
}

interface Explained {
  readonly preferences: Preferences
  readonly mail: Reach
  readonly webhooks: Reach
}

function explanation(
  type: KnownType,
  { preferences, mail, webhooks }: Explained,
): Static<typeof api.explanationSchema> {
  const to = (channel: Channel, reach: Reach) => {
    const receivers: Verdict = { level: 'receivers', ...reach }
    const levels = [...verdictsOf(preferences, type, channel), receivers]
    return { delivered: levels.every(({ allows }) => allows), levels }
  }
  return {
    event_type: type,
    category: categoryOf(type),
    channels: { email: to('email', mail), in_app: to('in_app', inbox), push: to('push', push) },
    webhooks: explainedWebhooks(type, webhooks),
  }
}

const inbox: Reach = { allows: true, reason: 'every user has an inbox' }
const push: Reach = { allows: false, reason: 'nothing is sent to devices by this version' }

function explainedWebhooks(type: KnownType, { allows, reason }: Reach) {
  if (isNeverEmitted(type)) return { delivered: false, reason: 'such events never happen' }
  if (formatOf(type) === 'none') return { delivered: false, reason: 'for inbox and mail only' }
  return { delivered: allows, reason }
}
