import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { mailRow } from '../../src/telling/mail/mail-delivery.ts'
import { LocalMails } from '../support/local-mails.ts'
import { MailServer } from '../support/mail-server.ts'

const minute = 60_000_000

const server = await MailServer.start()
let local: LocalMails

beforeEach(async () => {
  server.received.length = 0
  local = await LocalMails.open(server)
})

afterEach(() => local[Symbol.asyncDispose]())

afterAll(() => server[Symbol.asyncDispose]())

async function mailsAfterTwo(): Promise<number> {
  const { email } = await local.confirmed()
  await local.happens({ resourceId: 'v' })
  await local.pass(minute)
  await local.happens({ resourceId: 'v' })
  await local.settled()
  return server.countTo(email) - 1
}

test('an event that repeats another within five minutes is not mailed again', async () => {
  expect(await mailsAfterTwo()).toBe(1)
})

test('an event that repeats another is mailed again when the inbox has no record of it', async () => {
  const preferences = JSON.stringify({
    global_preferences: { email_enabled: true, in_app_enabled: false, push_enabled: false },
    category_preferences: {},
    event_preferences: {},
  })
  await local.tests.commit(
    local.tests.state
      .insertInto('notification_preferences')
      .values({ owner_id: local.ownerId, preferences }),
  )
  expect(await mailsAfterTwo()).toBe(2)
})

test('what is coalesced is for webhooks only', async () => {
  const { email } = await local.confirmed()
  await local.happens({ type: 'stream.data_received', data: { streamId: 's', count: 3 } })
  await local.settled()
  expect(server.countTo(email)).toBe(1)
})

test('a webhook that was disabled is told of by mail as well, and only its host', async () => {
  const { email } = await local.confirmed()
  const data = { id: 'w', url: 'https://receiver.example/secret?token=1', consecutive_failures: 10 }
  await local.happens({ type: 'security.webhook_disabled', resourceType: 'webhook', data })
  const [, mail] = await server.mailsTo(email, 2)
  expect(mail?.parsed.subject).toBe('Webhook disabled after repeated failures: receiver.example')
  expect(mail?.raw.toString()).not.toContain('secret')
})

test('an alert is mailed each time, however often it comes', async () => {
  const { email } = await local.confirmed()
  for (const alertId of ['a', 'a', 'a']) {
    const data = { alertId, streamName: 's', severity: 'warning' }
    await local.happens({ type: 'stream.alert_triggered', resourceId: 's', data })
  }
  await server.mailsTo(email, 4)
})

test('for an address that has not said yes nothing but the question is even written down', async () => {
  const { id } = await local.added()
  await local.happens()
  await local.tests.commit(...local.recipients.unsubscribe(await local.confirmed()))
  await local.happens()
  expect(await local.deliveries()).toEqual([])
  expect((await local.read({ id })).status).toBe('PENDING_VERIFICATION')
})

test('what was written down for an address is not sent once it has said no', async () => {
  const recipient = await local.confirmed()
  await local.tests.commit(
    local.tests.state
      .updateTable('email_recipients')
      .set({ verified_at: null })
      .where('id', '=', recipient.id),
  )
  await local.tests.commit(
    local.tests.state.insertInto('deliveries').values(
      mailRow({
        recipientId: recipient.id,
        ownerId: local.ownerId,
        eventId: 'event',
        eventType: 'vault.created',
        resourceId: 'v',
        createdAtUs: local.clock.atUs,
        dueAtUs: local.clock.steadyUs(),
      }),
    ),
  )
  await local.settled()
  expect(server.countTo(recipient.email)).toBe(1)
  expect(await local.deliveries()).toMatchObject([{ state: 'failed', due_at: null, attempts: 0 }])
})
