import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import Fastify from 'fastify'
import { afterEach, beforeAll, expect, test } from 'vitest'
import type { UserId } from '../../src/core/ids.ts'
import { limitUnsentAnswers } from '../../src/requests/http/unsent-answers.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const sockets: Socket[] = []
let ada: Person

const path = '/vaults?page_size=100'

beforeAll(async () => {
  ada = await newOwner()
})

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** Somebody whose list of vaults has 6.5 million characters. */
async function newOwner(): Promise<Person> {
  const person = await newPerson(service.api)
  const { body } = await person.withKey<{ id: string }>('POST', '/templates', {
    name: 'boiler',
    hint: '',
    required_streams: [],
  })
  const vault = { template_id: body.id, name: 'large', json_payload: 'x'.repeat(65_536) }
  const made = Array.from({ length: 100 }, () => person.withKey('POST', '/vaults', vault))
  await Promise.all(made)
  return person
}

/** Asks for the list, and reads nothing but the first bytes of the answer: those of its status. */
async function statusOfUnread({ key }: Person): Promise<string> {
  const socket = connect(Number(new URL(service.process.http).port), '127.0.0.1')
  sockets.push(socket)
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nx-api-key: ${key.apiKey}\r\nx-api-secret: ${key.apiSecret}\r\n\r\n`,
  )
  await once(socket, 'readable')
  return (socket.read(12) as Buffer).toString()
}

async function statusesOfUnread(person: Person, count: number): Promise<readonly string[]> {
  const statuses: string[] = []
  for (let index = 0; index < count; index++) statuses.push(await statusOfUnread(person))
  return statuses
}

test('answers that a user does not read end in 503, until they are gone', async () => {
  const statuses = await statusesOfUnread(ada, 15)

  expect(statuses[0]).toBe('HTTP/1.1 200')
  expect(statuses.at(-1)).toBe('HTTP/1.1 503')
  expect((await ada.withKey('GET', path)).body).toMatchObject({ error: 'overloaded' })
  // What is small is answered, and so is everybody else.
  expect((await ada.withKey('GET', '/vaults?page_size=1')).status).toBe(200)
  expect((await (await newOwner()).withKey('GET', path)).status).toBe(200)

  for (const socket of sockets) socket.destroy()

  await expect.poll(async () => (await ada.withKey('GET', path)).status).toBe(200)
})

test('answers that are read may come as often as one likes', async () => {
  for (let index = 0; index < 15; index++) {
    expect((await ada.withKey('GET', path)).status).toBe(200)
  }
})

test('an answer whose reader left while it was made takes no room', async () => {
  const app = Fastify()
  app.addHook(
    'onSend',
    limitUnsentAnswers(() => 'ada' as UserId),
  )
  const asked = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  // Two of these are more than one user may let wait.
  const large = 'x'.repeat(40 * 1024 * 1024)
  app.get('/late', async (_, reply) => {
    const closed = once(reply.raw, 'close')
    asked.resolve()
    await closed
    left.resolve()
    return large
  })
  app.get('/', async () => large)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /late HTTP/1.1\r\nHost: x\r\n\r\n')
  await asked.promise

  socket.destroy()
  await left.promise

  const answer = await fetch(`http://127.0.0.1:${port}/`)
  expect(answer.status).toBe(200)
  await answer.body?.cancel()
  await app.close()
})
