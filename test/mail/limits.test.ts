import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { LocalMails } from '../support/local-mails.ts'
import { MailServer, reply } from '../support/mail-server.ts'

const minute = 60_000_000

const server = await MailServer.start()
let local: LocalMails

beforeEach(async () => {
  server.behaviour = {}
  server.received.length = 0
  local = await LocalMails.open(server)
})

afterEach(async () => {
  expect(local.failures).toEqual([])
  await local[Symbol.asyncDispose]()
})

afterAll(() => server[Symbol.asyncDispose]())

async function happens(count: number): Promise<void> {
  for (let event = 0; event < count; event++) await local.happens()
}

test('an address is written a hundred mails a minute at most, and those withheld are counted', async () => {
  const quiet = await local.confirmed()
  local.clock.atUs += minute
  await happens(101)
  expect(await local.deliveries()).toHaveLength(100)
  expect(local.withheld).toBe(1)
  // Another address has a share of its own.
  await local.tests.commit(...local.recipients.remove(quiet))
  await local.confirmed()
  await happens(1)
  expect(local.withheld).toBe(1)
  local.clock.atUs += minute
  await happens(1)
  expect(local.withheld).toBe(1)
})

test('an address that was written as many has room a minute later, although the clock was set back', async () => {
  await local.confirmed()
  local.clock.atUs += minute
  await happens(100)
  local.clock.atUs += 2 * minute
  local.clock.step(-2 * minute)
  await happens(1)
  expect(local.withheld).toBe(0)
})

test('a thousand mails wait for an address at most', async () => {
  await local.confirmed()
  server.behaviour = { onRecipient: () => reply(451, 'later') }
  for (let round = 0; round < 11; round++) {
    local.clock.atUs += minute
    await happens(100)
  }
  const waiting = (await local.deliveries()).filter(({ due_at: dueAt }) => dueAt !== null)
  expect(waiting).toHaveLength(1_000)
  expect(local.withheld).toBe(100)
})

test('what others grant leaves most mails of a minute to the rest', async () => {
  await local.confirmed()
  server.behaviour = { onRecipient: () => reply(451, 'later') }
  const granted = async (count: number, holderId: string) => {
    const type = 'vault.permission.granted'
    for (let one = 0; one < count; one++) {
      await local.happens({ type, data: { name: 'boiler', user_id: holderId } })
    }
  }
  local.clock.atUs += minute
  await granted(30, local.ownerId)
  expect(local.withheld).toBe(10)
  await granted(30, 'who was granted it')
  await happens(50)
  expect(local.withheld).toBe(10)

  for (let round = 0; round < 12; round++) {
    local.clock.atUs += minute
    await granted(20, local.ownerId)
  }
  const waiting = (await local.deliveries()).filter(({ due_at: dueAt }) => dueAt !== null)
  expect(waiting).toHaveLength(200)
  await happens(1)
  expect(local.withheld).toBe(10 + 12 * 20 - 100)
})

test('what is kept long enough goes, and the records are still counted', async () => {
  const recipient = await local.confirmed()
  await local.happens()
  await local.settled()
  expect((await local.read(recipient)).recordedAttempts).toBe(2)
  await local.purge(local.clock.atUs)
  expect(await local.attempts()).toEqual([])
  expect((await local.read(recipient)).recordedAttempts).toBe(0)
  await local.happens()
  await local.settled()
  expect((await local.read(recipient)).recordedAttempts).toBe(1)
})

test('how often somebody was asked is forgotten after a day', async () => {
  const { id } = await local.added()
  const asked = async () =>
    (await local.tests.state.selectFrom('email_verifications').select('sent_at').execute()).length
  await local.purge(0)
  expect(await asked()).toBe(1)
  local.clock.atUs += 24 * 60 * minute
  await local.purge(0)
  expect(await asked()).toBe(0)
  expect((await local.read({ id })).status).toBe('PENDING_VERIFICATION')
})
