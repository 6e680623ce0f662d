import type { FastifyPluginAsync } from 'fastify'
import { invalidParameter } from '../../core/errors.ts'
import * as s from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import { type ConsoleSettingsStore, isZone } from './console-settings.ts'

export interface ConsoleSettingsRoutesNeeds {
  readonly settings: ConsoleSettingsStore
  readonly callerOf: CallerOf
}

const settingsSchema = s.component(
  'ConsoleSettings',
  s.record({
    theme: s.choice(['system', 'light', 'dark'], { description: 'Colours of the page.' }),
    timeZone: {
      ...s.text,
      maxLength: 100,
      description: 'What times are shown in: `browser`, or a name of the IANA database.',
      examples: ['Europe/Berlin'],
    },
    shortcuts: { ...s.boolean, description: 'Whether single keys do something.' },
  }),
)

/** How a user wants to see the console, in every browser. */
export function consoleSettingsRoutes(needs: ConsoleSettingsRoutesNeeds): FastifyPluginAsync {
  const { settings } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Console'] })

    add('GET /console/settings', {
      operationId: 'readConsoleSettings',
      summary: 'Read how one wants to see the console.',
      scope: 'any',
      answers: { 200: settingsSchema },
      handler: async ({ caller }) => await settings.read(caller.userId),
    })

    add('PUT /console/settings', {
      operationId: 'replaceConsoleSettings',
      summary: 'Say how one wants to see the console.',
      scope: 'any',
      body: settingsSchema,
      answers: { 200: settingsSchema },
      handler: async ({ caller, body }) => {
        if (!isZone(body.timeZone)) throw invalidParameter('timeZone', 'must be a time zone')
        await settings.replace(caller.userId, body)
        return body
      },
    })
  }
}
