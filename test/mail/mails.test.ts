import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import {
  everythingHasCome,
  linkIn,
  MailClient,
  newAddress,
  oneClick,
  oneClickOf,
  recipientsAt,
} from '../support/mail-client.ts'
import { MailServer, reply } from '../support/mail-server.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { publicAddress } from '../support/service-process.ts'

const server = await MailServer.start()
const service = runningService({ STREAMVAULT_SMTP_URL: server.url, ...(await publicAddress()) })
let owner: Person
let client: MailClient

beforeEach(async () => {
  server.behaviour = {}
  owner = await newPerson(service.api)
  client = new MailClient(owner, server)
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

test('an address that was confirmed is told of an event', async () => {
  const email = newAddress()
  const { id } = await client.confirmed(email)
  const vaultId = await vaultOf(owner)
  const [, mail] = await server.mailsTo(email, 2)
  expect(mail?.parsed.subject).toBe('Vault created: boiler 7')
  expect(linkIn(mail!)).toBe(`${service.process.http}/console/vaults/${vaultId}`)
  const attempts = await client.attemptsOf(id, 2)
  expect(attempts).toMatchObject([
    { event_type: 'vault.created', delivered: true, status_code: 250 },
    { event_type: 'email.verification', delivered: true },
  ])
})

test('an address that is refused for good is not sent the mail again', async () => {
  const email = newAddress()
  const { id } = await client.confirmed(email)
  server.behaviour = { onRecipient: () => reply(550, `no mailbox ${email}`) }
  await vaultOf(owner)
  const [attempt] = await client.attemptsOf(id, 2)
  expect(attempt).toMatchObject({ status_code: 550, delivered: false, next_attempt_at: null })
  expect(attempt?.message).toBe('550 no mailbox [address]')
  const path = `${recipientsAt}/${id}`
  const { status } = await owner.withKey('DELETE', path)
  expect(status).toBe(204)
})

describe('an address that was confirmed', () => {
  test('is told nothing while it is switched off, and is told again without being asked', async () => {
    const email = newAddress()
    const { id } = await client.confirmed(email)
    expect((await client.change(id, { status: 'DISABLED' })).body.status).toBe('DISABLED')
    await vaultOf(owner)
    await everythingHasCome(service.process.http)
    expect(server.countTo(email)).toBe(1)

    expect((await client.change(id, { status: 'ACTIVE' })).body).toMatchObject({
      status: 'ACTIVE',
      consecutive_failures: 0,
    })
    await vaultOf(owner)
    await server.mailsTo(email, 2)
  })

  test('is told nothing once it is removed, and its records are nobody’s', async () => {
    const email = newAddress()
    const { id } = await client.confirmed(email)
    const { status } = await owner.withKey('DELETE', `${recipientsAt}/${id}`)
    expect(status).toBe(204)
    await vaultOf(owner)
    await everythingHasCome(service.process.http)
    expect(server.countTo(email)).toBe(1)
    for (const path of ['', '/deliveries']) {
      expect((await owner.withKey('GET', `${recipientsAt}/${id}${path}`)).status).toBe(404)
    }
  })

  test('is told as it happens, whatever the frequency says that is stored', async () => {
    const email = newAddress()
    await client.confirmed(email)
    const at = '/notifications/preferences'
    const frequency = { global_preferences: { frequency: 'DAILY_DIGEST' } }
    const { body } = await owner.withKey('PUT', at, frequency)
    expect(body).toMatchObject(frequency)
    await vaultOf(owner)
    await server.mailsTo(email, 2)
  })

  test('is told what the preferences leave, and the inbox may be off', async () => {
    const email = newAddress()
    await client.confirmed(email)
    const at = '/notifications/preferences'
    await owner.withKey('PUT', at, {
      event_preferences: { 'vault.created': { channels: ['in_app'] } },
    })
    const vaultId = await vaultOf(owner)
    await owner.withKey('PUT', at, { global_preferences: { in_app_enabled: false } })
    await owner.withKey('DELETE', `/vaults/${vaultId}`)

    const [, mail] = await server.mailsTo(email, 2)
    expect(mail?.parsed.subject).toBe('Vault deleted: boiler 7')
  })

  test('has an envelope of its own', async () => {
    const emails = [newAddress(), newAddress(), newAddress()]
    for (const email of emails) await client.confirmed(email)
    await vaultOf(owner)
    for (const email of emails) {
      const [, mail] = await server.mailsTo(email, 2)
      expect(mail?.to).toEqual([email])
      expect(mail?.parsed.to).toEqual([{ address: email, name: '' }])
      for (const other of emails.filter((one) => one !== email)) {
        expect(mail?.raw.toString()).not.toContain(other)
      }
    }
  })

  test('ends with its user, and so does what waits for it', async () => {
    const email = newAddress()
    await client.confirmed(email)
    const link = oneClickOf(await client.question(email))
    server.behaviour = {
      onRecipient: () => Object.assign(new Error('later'), { responseCode: 451 }),
    }
    await vaultOf(owner)
    const [recipient] = (await client.listed()).content
    await client.attemptsOf(recipient?.id ?? '', 2)
    await service.api.withKey('DELETE', `/users/${owner.userId}`)

    using state = new DatabaseSync(`${service.process.dataDir}/state.db`, { readOnly: true })
    const left = (sql: string) => state.prepare(sql).get(owner.userId)?.['count']
    expect(left('SELECT count(*) AS count FROM email_recipients WHERE owner_id = ?')).toBe(0)
    expect(left('SELECT count(*) AS count FROM email_verifications WHERE owner_id = ?')).toBe(0)
    const states = 'SELECT DISTINCT state FROM deliveries WHERE event_type <> ? AND owner_id = ?'
    expect(state.prepare(states).all('email.verification', owner.userId)).toMatchObject([
      { state: 'cancelled' },
    ])
    const waiting =
      'SELECT count(*) AS count FROM deliveries WHERE due_at IS NOT NULL AND owner_id = ?'
    while (left(waiting) !== 0) await sleep(20)
    expect(await oneClick(link)).toBe(200)
  })
})
