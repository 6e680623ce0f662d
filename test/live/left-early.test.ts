import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { MessageChannel } from 'node:worker_threads'
import Fastify, { type FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { JournalTails } from '../../src/reading/live/journal-tails.ts'
import { OpenTails } from '../../src/reading/live/open-tails.ts'
import { StreamNews } from '../../src/reading/live/stream-news.ts'
import { tailRoutes } from '../../src/reading/live/tail-routes.ts'
import { handleError } from '../../src/requests/http/error-handler.ts'
import { routeUpgrades } from '../../src/requests/http/upgrades.ts'
import { requestChecks } from '../../src/requests/http/validation.ts'
import { SqliteJournalFile } from '../../src/storage/journal/sqlite-journal.ts'
import { beforeAll } from '../../src/storage/time-series/readings-query.ts'
import { DataStreamStore } from '../../src/streams/data-streams/data-stream-store.ts'
import { InboxStore } from '../../src/telling/notifications/inbox/inbox-store.ts'
import { inboxTailRoute } from '../../src/telling/notifications/inbox/inbox-tail-route.ts'
import { NotifiedOwners } from '../../src/telling/notifications/notified-owners.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { TestState } from '../support/test-state.ts'

/** What a request waits for until its client has left: the hooks before its route, or the route. */
type Moment = 'hooks' | 'route'

const clock = { nowUs: () => 1_700_000_000_000_000, steadyUs: () => 0 }
const onFailure = (error: unknown) => expect.unreachable(String(error))
const inboxPath = '/notifications/in-app/stream'
const webSocket = ['Connection: upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
const webSocketKey = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='

/** A server with a stream and an inbox; a request may wait there for its client to leave. */
class Followed implements AsyncDisposable {
  readonly tails = new OpenTails({ nowUs: clock.nowUs, isGoodSession: () => true })
  readonly streamId = newId<StreamId>()
  /** Resolves when the request waits for its client to leave. */
  readonly waits = Promise.withResolvers<void>()
  /** Whether nothing is left to do for the request. */
  isOver = false
  readonly #app: FastifyInstance = Fastify()
  readonly #folder = new TemporaryFolder()
  readonly #journalPath = this.#folder.file('journal.db')
  readonly #journal = new SqliteJournalFile(this.#journalPath, 1024 ** 3)
  readonly #notified = new MessageChannel()
  readonly #moment: Moment | undefined
  readonly #tests: TestState
  #answer: ServerResponse | undefined

  static async open(moment?: Moment): Promise<Followed> {
    const followed = new Followed(await TestState.open(), moment)
    await followed.#begin()
    return followed
  }

  private constructor(tests: TestState, moment: Moment | undefined) {
    this.#tests = tests
    this.#moment = moment
  }

  get path(): string {
    return `/streams/${this.streamId}/tail?last=5`
  }

  /** Sends a request, and resolves with all that is answered until its connection is closed. */
  async answerTo(path: string, headers: readonly string[] = []): Promise<string> {
    const socket = this.#send(path, headers)
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    return text
  }

  /** Sends a request, and breaks its connection when it waits. */
  async leaveEarly(path: string, headers: readonly string[] = []): Promise<void> {
    const socket = this.#send(path, headers)
    await this.waits.promise
    socket.resetAndDestroy()
  }

  async head(path: string): Promise<number> {
    return (await this.#app.inject({ method: 'HEAD', url: path })).statusCode
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app.close()
    this.#notified.port1.close()
    this.#journal.close()
    await this.#tests[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }

  #send(path: string, headers: readonly string[]) {
    const { port } = this.#app.server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    socket.write(`${[`GET ${path} HTTP/1.1`, 'Host: here', ...headers].join('\r\n')}\r\n\r\n`)
    return socket
  }

  async #begin(): Promise<void> {
    const ownerId = await this.#tests.newUser()
    await this.#addStream(ownerId)
    const app = this.#app
    app.setErrorHandler(handleError)
    app.setValidatorCompiler(requestChecks())
    app.setSerializerCompiler(() => (body) => JSON.stringify(body))
    routeUpgrades(app)
    app.addHook('onRoute', (route) => {
      const { handler } = route
      route.handler = async function (request, reply) {
        await handler.call(this, request, reply)
        // Not before the answer is at its end.
        await reply
        isOver()
        return reply
      }
    })
    const isOver = () => {
      this.isOver = true
    }
    app.addHook('preHandler', async (_, reply) => {
      this.#answer = reply.raw
      await this.#wait('hooks')
    })
    await this.#addRoutes(ownerId)
    await app.listen({ port: 0, host: '127.0.0.1' })
  }

  async #addRoutes(userId: UserId): Promise<void> {
    const { state } = this.#tests
    const { tails } = this
    const wait = () => this.#wait('route')
    const callerOf = () => {
      const rights = { scope: '', interface: 'header-key', expiresAtUs: undefined } as const
      return { userId, apiKeyId: 'a key', ...rights }
    }
    class WaitingInbox extends InboxStore {
      override async newest(ownerId: UserId): Promise<number> {
        await wait()
        return await super.newest(ownerId)
      }
    }
    const inbox = new WaitingInbox({ state, writer: this.#tests, clock })
    const notified = new NotifiedOwners(this.#notified.port1)
    await this.#app.register(inboxTailRoute({ inbox, notified, tails, onFailure, callerOf }))
    const needs = {
      streams: new DataStreamStore(state, clock),
      journal: new JournalTails({
        journalPath: this.#journalPath,
        news: new StreamNews(0),
        onFailure,
      }),
      history: async () => ({ points: [], next: undefined, position: 0 }),
      placeBeforeNewest: async () => {
        await wait()
        return beforeAll
      },
      nowUs: () => 0,
      corsOrigins: [],
    }
    await this.#app.register(tailRoutes({ ...needs, tails, onFailure, callerOf }))
  }

  async #wait(moment: Moment): Promise<void> {
    if (moment !== this.#moment || this.#answer === undefined) return
    const left = once(this.#answer, 'close')
    this.waits.resolve()
    await left
  }

  async #addStream(ownerId: UserId): Promise<void> {
    const { state } = this.#tests
    // Its vault is nobody's matter here.
    await sql`PRAGMA foreign_keys = OFF`.execute(state)
    const common = { name: 'heat', tags: '{}', created_at: 0, version: 1 }
    const unset = { paused_at: null, last_event_at: null, kept_raw: null, kept_aggregated: null }
    const stream = { id: this.streamId, owner_id: ownerId, vault_id: 'v1', type: 'iot_sensor' }
    const parts = { source: {}, schema: {}, processing: {}, conversions: {} }
    const version = { definition: JSON.stringify(parts), created_by: null }
    await this.#tests.commit(
      state
        .insertInto('data_streams')
        .values({ ...common, ...stream, ...unset, name_folded: 'heat', type: 'iot_sensor' }),
      state
        .insertInto('data_stream_versions')
        .values({ ...common, ...version, stream_id: this.streamId }),
    )
  }
}

test.each([
  ['Server-Sent Events', 'hooks', []],
  ['Server-Sent Events', 'route', []],
  ['a WebSocket', 'hooks', [...webSocket, webSocketKey]],
  ['a WebSocket', 'route', [...webSocket, webSocketKey]],
] as const)(
  'who asked for %s and leaves during the %s keeps no place',
  async (_, moment, headers) => {
    await using followed = await Followed.open(moment)

    await followed.leaveEarly(followed.path, headers)

    await expect.poll(() => followed.isOver).toBe(true)
    expect(followed.tails.stats).toEqual({ open: 0, refused: 0 })
  },
)

test.each(['hooks', 'route'] as const)(
  'who asked for an inbox and leaves during the %s keeps no place',
  async (moment) => {
    await using followed = await Followed.open(moment)

    await followed.leaveEarly(inboxPath)

    await expect.poll(() => followed.isOver).toBe(true)
    expect(followed.tails.stats).toEqual({ open: 0, refused: 0 })
  },
)

test('who asks for a WebSocket in a wrong way keeps no place, and the request ends', async () => {
  await using followed = await Followed.open()

  expect(await followed.answerTo(followed.path, webSocket)).toMatch(/^HTTP\/1.1 400 /)

  await expect.poll(() => followed.isOver).toBe(true)
  expect(followed.tails.stats.open).toBe(0)
})

test.each([
  ['Server-Sent Events', ['Connection: close']],
  ['a WebSocket', [...webSocket, webSocketKey]],
])('who asks for %s of no stream keeps no place', async (_, headers) => {
  await using followed = await Followed.open()
  const path = `/streams/${newId<StreamId>()}/tail`

  expect(await followed.answerTo(path, headers)).toMatch(/^HTTP\/1.1 404 /)

  expect(followed.tails.stats.open).toBe(0)
})

test('HEAD takes no place', async () => {
  await using followed = await Followed.open()

  expect(await followed.head(followed.path)).toBe(200)
  expect(await followed.head(inboxPath)).toBe(200)
  expect(await followed.head(`/streams/${newId<StreamId>()}/tail`)).toBe(404)

  expect(followed.tails.stats.open).toBe(0)
})
