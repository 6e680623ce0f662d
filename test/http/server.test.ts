import type { FastifyInstance, FastifyPluginAsync, FastifySchema } from 'fastify'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import type { Authenticator } from '../../src/access/auth/authenticate.ts'
import { DomainError } from '../../src/core/errors.ts'
import { BodiesInFlight } from '../../src/requests/http/bodies-in-flight.ts'
import { record, text } from '../../src/requests/http/schema.ts'
import { buildHttpServer } from '../../src/requests/http/server.ts'

const schema = {
  operationId: 'readBoiler',
  summary: 'Read a boiler.',
  tags: ['Operations'],
  response: { 200: record({ name: text, hint: text }, { optional: ['hint'] }) },
} as const

/** The type without what it says of answers: the tests answer other things. */
const answeredAsGiven: FastifySchema = schema

interface Options {
  readonly checkAnswers?: boolean
  /** Routes that need credentials; none of the tests gets past them. */
  readonly guarded?: FastifyPluginAsync
}

/** A server with these routes, which nothing listens with. */
function serverWith(routes: FastifyPluginAsync, options: Options = {}): Promise<FastifyInstance> {
  const { checkAnswers = true, guarded } = options
  return buildHttpServer({
    logger: pino({ level: 'silent' }),
    version: '1.2.3',
    publicUrl: 'http://vault.example',
    checkAnswers,
    bodies: new BodiesInFlight(),
    network: { certificate: undefined, corsOrigins: [], trustedProxies: [] },
    authenticator: undefined as unknown as Authenticator,
    openRoutes: [routes],
    signedRoutes: [],
    routes: guarded === undefined ? [] : [() => guarded],
  })
}

/** What GET /boiler is answered with, when its handler gives this. */
async function answerOf(given: unknown, options: Options & { readonly status?: number } = {}) {
  const server = await serverWith(async (app) => {
    app.get('/boiler', { schema: answeredAsGiven }, async (_, reply) =>
      reply.code(options.status ?? 200).send(given),
    )
  }, options)
  return await server.inject('/boiler')
}

/** What GET /boiler is answered with, when its handler throws this. */
async function answerTo(error: Error, errors: readonly ['store_unavailable'] | [] = []) {
  const server = await serverWith(async (app) => {
    app.get('/boiler', { schema, config: { errors } }, async () => {
      throw error
    })
  })
  return await server.inject('/boiler')
}

describe('with checked answers, an answer', () => {
  test.each([{ name: 'boiler 7' }, { name: 'boiler 7', hint: 'hot' }])(
    'that is as described is sent: %j',
    async (body) => {
      const answer = await answerOf(body)

      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual(body)
    },
  )

  test.each([
    ['has a member too many', { name: 'boiler 7', colour: 'red' }, 200],
    ['lacks a member', {}, 200],
    ['has a member of another type', { name: 7 }, 200],
    ['has another status', { name: 'boiler 7' }, 201],
    ['was written by the handler', '{"name":7}', 200],
  ])('that %s is 500', async (_, body, status) => {
    const answer = await answerOf(body, { status })

    expect(answer.statusCode).toBe(500)
    expect(answer.json()).toMatchObject({ error: 'internal_error' })
  })

  test('with an error code that the operation does not name is 500', async () => {
    const error = new DomainError('store_unavailable', 'not now', { retryAfter: 3 })

    expect((await answerTo(error)).statusCode).toBe(500)
    expect((await answerTo(error, ['store_unavailable'])).statusCode).toBe(503)
  })
})

test('in production an answer is sent whole, whatever its description says', async () => {
  const body = { name: 7, colour: 'red' }

  const answer = await answerOf(body, { checkAnswers: false })

  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual(body)
})

describe('an error', () => {
  test('that is ours says nothing of its cause', async () => {
    const answer = await answerTo(new Error('SELECT secret FROM users'))

    expect(answer.statusCode).toBe(500)
    expect(Object.keys(answer.json())).toEqual(['error', 'message', 'statusCode', 'remedy'])
    expect(answer.body).not.toContain('SELECT')
  })

  test('that passes says when to try again, in the body and in the header', async () => {
    const error = new DomainError('store_unavailable', 'not now', { retryAfter: 3 })

    const answer = await answerTo(error, ['store_unavailable'])

    expect(answer.json()).toMatchObject({ retryAfter: 3 })
    expect(answer.headers['retry-after']).toBe('3')
  })
})

const withoutScope: FastifyPluginAsync = async (app) => {
  app.get('/boiler', { schema }, async () => ({}))
}

function boilerOfType(type: string): FastifySchema {
  return { ...schema, response: { 200: { $id: 'Boiler', type } } }
}

describe('the start is stopped by a route that', () => {
  test.each(['operationId', 'summary', 'tags', 'response'] as const)('has no %s', async (part) => {
    const { [part]: _, ...incomplete } = schema
    const routes: FastifyPluginAsync = async (app) => {
      app.get('/boiler', { schema: incomplete }, async () => ({}))
    }

    await expect(serverWith(routes)).rejects.toThrow(`GET /boiler has no ${part}`)
  })

  test('says only how it fails', async () => {
    const failing: FastifySchema = { ...schema, response: { 404: text } }
    const server = serverWith(async (app) => {
      app.get('/boiler', { schema: failing }, async () => ({}))
    })

    await expect(server).rejects.toThrow('when all is well')
  })

  test('needs credentials and names no scope', async () => {
    const server = serverWith(async () => {}, { guarded: withoutScope })

    await expect(server).rejects.toThrow('names no scope')
  })

  test('does not describe an id in its path', async () => {
    const server = await serverWith(async (app) => {
      app.get('/boilers/:boilerId', { schema }, async () => ({}))
    })

    await expect(server.ready()).rejects.toThrow('does not describe boilerId')
  })

  test('gives another schema the name of an old one', async () => {
    const server = await serverWith(async (app) => {
      app.get('/one', { schema: boilerOfType('string') }, async () => '')
      app.get('/two', { schema: boilerOfType('boolean') }, async () => '')
    })

    await expect(server.ready()).rejects.toThrow('two different schemas are named Boiler')
  })
})

describe('/docs', () => {
  test('shows every operation, and text as text', async () => {
    const server = await serverWith(async (app) => {
      const summary = 'Read <b>a</b> boiler & more.'
      app.get('/boiler', { schema: { ...schema, summary } }, async () => ({}))
    })

    const page = await server.inject('/docs')

    expect(page.headers['content-type']).toMatch(/^text\/html/)
    expect(page.body).toContain('id="readBoiler"')
    expect(page.body).toContain('Read &lt;b&gt;a&lt;/b&gt; boiler &amp; more.')
  })

  test('needs nothing but what we serve, and no script', async () => {
    const page = (await (await serverWith(async () => {})).inject('/docs')).body

    const needed = [...page.matchAll(/(?:src|href)="([^#"][^"]*)"/g)].map(([, address]) => address)
    expect(new Set(needed)).toEqual(new Set(['/docs/style.css', '/openapi.json', '/asyncapi.json']))
    expect(page).not.toMatch(/<script|<style|style=|\son\w+=/)
  })
})
