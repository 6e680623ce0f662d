import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LocalMails } from '../support/local-mails.ts'
import { MailServer, reply } from '../support/mail-server.ts'

const second = 1_000_000
const hour = 3_600 * second

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

/** Events that are refused for good, one after the other. */
async function refused(count: number): Promise<void> {
  server.behaviour = { onRecipient: () => reply(550, 'no such mailbox') }
  for (let event = 0; event < count; event++) {
    await local.happens()
    await local.settled()
  }
}

describe('a 4xx of the mail server', () => {
  test('to the address is retried after 5 s, then after twice as long, with the same Message-ID', async () => {
    const recipient = await local.confirmed()
    server.behaviour = { onRecipient: () => reply(451, 'come back later') }
    await local.happens()
    await local.settled()
    for (const seconds of [5, 10, 20]) {
      const before = (await local.attempts()).length
      await local.pass(seconds * second - 1)
      expect(await local.attempts()).toHaveLength(before)
      await local.pass(1)
      expect(await local.attempts()).toHaveLength(before + 1)
    }
    server.behaviour = {}
    await local.pass(40 * second)

    expect(await local.attempts()).toMatchObject([
      { attempt: 1, status_code: 451, message: '451 come back later', delivered: 0 },
      { attempt: 2, delivered: 0 },
      { attempt: 3, delivered: 0 },
      { attempt: 4, delivered: 0 },
      { attempt: 5, status_code: 250, delivered: 1, next_attempt_at: null },
    ])
    expect(await local.read(recipient)).toMatchObject({ consecutiveFailures: 0, status: 'ACTIVE' })
  })

  test('after the whole mail is retried as well, and the same mail comes', async () => {
    const { email } = await local.confirmed()
    server.behaviour = { onMail: () => reply(452, 'full') }
    await local.happens()
    await local.settled()
    server.behaviour = {}
    await local.pass(5 * second)

    const [, first, again] = await server.mailsTo(email, 3)
    expect(again?.parsed.messageId).toBe(first?.parsed.messageId)
    expect(again?.parsed.text).toBe(first?.parsed.text)
  })

  test('for ever ends within a day, and counts for nothing', async () => {
    const recipient = await local.confirmed()
    server.behaviour = { onRecipient: () => reply(421, 'not today') }
    await local.happens()
    const beganUs = local.clock.atUs
    await local.settled()
    const waitedUs: number[] = []
    for (;;) {
      const dueUs = (await local.attempts()).at(-1)?.next_attempt_at ?? undefined
      if (dueUs === undefined) break
      waitedUs.push(dueUs - local.clock.atUs)
      await local.pass(dueUs - local.clock.atUs)
    }

    expect(waitedUs.slice(0, 3)).toEqual([5 * second, 10 * second, 20 * second])
    expect(Math.max(...waitedUs)).toBe(hour)
    const lastedUs = local.clock.atUs - beganUs
    expect(lastedUs).toBeGreaterThan(20 * hour)
    expect(lastedUs).toBeLessThan(24 * hour)
    expect(await local.deliveries()).toMatchObject([{ state: 'failed', due_at: null }])
    expect(await local.read(recipient)).toMatchObject({ consecutiveFailures: 0, status: 'ACTIVE' })
  })
})

describe('a 5xx of the mail server', () => {
  test.each([
    ['to the address', { onRecipient: () => reply(550, 'no such mailbox') }, 550],
    ['to the mail', { onMail: () => reply(554, 'no thanks') }, 554],
  ] as const)('%s is not retried, and counts', async (_, behaviour, code) => {
    const recipient = await local.confirmed()
    server.behaviour = behaviour
    await local.happens()
    await local.settled()
    await local.pass(48 * hour)

    expect(await local.attempts()).toMatchObject([{ status_code: code, delivered: 0 }])
    expect(await local.read(recipient)).toMatchObject({ consecutiveFailures: 1, status: 'ACTIVE' })
  })

  test('five times in a row disables the address, with one notice in the inbox', async () => {
    const recipient = await local.confirmed()
    await refused(4)
    expect((await local.read(recipient)).status).toBe('ACTIVE')
    await refused(1)

    expect(await local.read(recipient)).toMatchObject({
      status: 'DISABLED',
      consecutiveFailures: 5,
    })
    const notices = (await local.inbox()).filter((type) => type === 'security.email_disabled')
    expect(notices).toEqual(['security.email_disabled'])
  })

  test('that disables an address cancels what waits for it, and no event is written for it', async () => {
    const recipient = await local.confirmed()
    server.behaviour = { onRecipient: () => reply(451, 'later') }
    await local.happens()
    await local.settled()
    await refused(5)
    await local.happens()
    server.behaviour = {}
    const before = server.received.length
    await local.pass(24 * hour)

    expect((await local.read(recipient)).status).toBe('DISABLED')
    expect(server.received).toHaveLength(before)
    const states = (await local.deliveries()).map(({ state }) => state)
    expect(states).toEqual(['cancelled', 'failed', 'failed', 'failed', 'failed', 'failed'])
  })

  test('tells the other addresses that one was disabled', async () => {
    const { email } = await local.confirmed()
    const broken = await local.confirmed()
    const isBroken = (address: string) => address === broken.email
    server.behaviour = {
      onRecipient: (address) => (isBroken(address) ? reply(550, 'no') : undefined),
    }
    for (let event = 0; event < 5; event++) {
      await local.happens()
      await local.settled()
    }

    const subjects = (await server.mailsTo(email, 7)).map(({ parsed }) => parsed.subject)
    expect(subjects.at(-1)).toBe(`Address disabled after repeated failures: ${broken.email}`)
    expect((await local.read(broken)).status).toBe('DISABLED')
  })

  test('counts in a row only: a mail that is taken begins anew', async () => {
    const recipient = await local.confirmed()
    await refused(4)
    server.behaviour = {}
    await local.happens()
    await local.settled()
    expect((await local.read(recipient)).consecutiveFailures).toBe(0)
    await refused(4)
    expect(await local.read(recipient)).toMatchObject({ consecutiveFailures: 4, status: 'ACTIVE' })
  })

  test('about us and not about the address is retried, counts for nothing, and shows no details', async () => {
    const recipient = await local.confirmed()
    server.behaviour = { onSender: () => reply(550, 'who is 10.0.0.7?') }
    await local.happens()
    await local.settled()
    await local.pass(60 * second)

    const attempts = await local.attempts()
    expect(attempts.length).toBeGreaterThan(1)
    expect(attempts[0]).toMatchObject({ status_code: 550, delivered: 0 })
    expect(attempts[0]?.message).toBe(
      'the mail server answered 550 to MAIL: not about this address',
    )
    expect(await local.read(recipient)).toMatchObject({ consecutiveFailures: 0, status: 'ACTIVE' })
    expect(local.troubles).toHaveLength(attempts.length)
  })
})

describe('a mail server', () => {
  test('that drops the connection is asked again, and nothing is lost or counted', async () => {
    const { email, id } = await local.confirmed()
    server.behaviour = {
      onMail: () => {
        server.drop()
        return new Promise(() => undefined)
      },
    }
    await local.happens()
    await local.settled()
    server.behaviour = {}
    await local.pass(5 * second)

    expect(await local.attempts()).toMatchObject([
      { status_code: null, delivered: 0 },
      { status_code: 250, delivered: 1 },
    ])
    // The question, what was dropped after it had come, and the mail.
    expect(await server.mailsTo(email, 3)).toHaveLength(3)
    expect(await local.read({ id })).toMatchObject({ consecutiveFailures: 0 })
  })

  test('that hangs is given up when the time of the attempt is over, and asked again', async () => {
    await local.confirmed()
    const patienceMs = local.attemptMs
    local.attemptMs = 100
    server.behaviour = { onMail: () => new Promise(() => undefined) }
    await local.happens()
    await local.settled()
    expect(await local.attempts()).toMatchObject([
      {
        status_code: null,
        message: 'no mail server took it: no connection, or no answer in time',
      },
    ])
    local.attemptMs = patienceMs
    server.behaviour = {}
    await local.pass(5 * second)
    expect((await local.attempts()).at(-1)).toMatchObject({ delivered: 1, attempt: 2 })
  })

  test('that is not configured leaves records that say so, and nothing that waits', async () => {
    await using without = await LocalMails.open()
    const recipient = await without.confirmed()
    await without.happens()
    await without.settled()
    await without.pass(48 * hour)

    expect(await without.attempts()).toMatchObject([
      {
        message: 'skipped: no mail server',
        status_code: null,
        delivered: 0,
        next_attempt_at: null,
      },
    ])
    expect(await without.deliveries()).toMatchObject([{ state: 'skipped', due_at: null }])
    expect(await without.read(recipient)).toMatchObject({
      consecutiveFailures: 0,
      status: 'ACTIVE',
    })
  })
})
