import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { linkIn, MailClient, newAddress, pressed, recipientsAt } from '../support/mail-client.ts'
import { MailServer } from '../support/mail-server.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { publicAddress } from '../support/service-process.ts'

const server = await MailServer.start()
const mailing = runningService({ STREAMVAULT_SMTP_URL: server.url, ...(await publicAddress()) })
const silent = runningService()
let owner: Person

beforeEach(async () => {
  owner = await newPerson(mailing.api)
})

afterAll(() => server[Symbol.asyncDispose]())

interface Explanation {
  readonly channels: Readonly<
    Record<
      'email' | 'in_app' | 'push',
      {
        readonly delivered: boolean
        readonly levels: readonly { readonly level: string; readonly reason: string }[]
      }
    >
  >
  readonly webhooks: { readonly delivered: boolean; readonly reason: string }
}

async function explained(type = 'vault.created', person = owner): Promise<Explanation> {
  const path = `/notifications/preferences/explain?event_type=${type}`
  return (await person.withKey<Explanation>('GET', path)).body
}

/** Whether it is mailed, and what is said of the receivers. */
async function mailed(person = owner): Promise<readonly [boolean, string | undefined]> {
  const { delivered, levels } = (await explained('vault.created', person)).channels.email
  return [delivered, levels.find(({ level }) => level === 'receivers')?.reason]
}

async function confirmed(client: MailClient): Promise<string> {
  const email = newAddress()
  const { id } = await client.added(email)
  await pressed(linkIn(await client.question(email)))
  return id
}

describe('mail is explained', () => {
  test('where there is no mail server', async () => {
    const person = await newPerson(silent.api)
    expect(await mailed(person)).toEqual([false, 'this service has no mail server'])
    await person.withKey('POST', recipientsAt, { email: newAddress() })
    expect(await mailed(person)).toEqual([false, 'this service has no mail server'])
  })

  test('without an address', async () => {
    expect(await mailed()).toEqual([false, 'there is no address to send it to'])
  })

  test('with an address that was not confirmed, that is, and that was switched off', async () => {
    const client = new MailClient(owner, server)
    await client.added(newAddress())
    expect(await mailed()).toEqual([false, 'no address is ACTIVE: 1 PENDING_VERIFICATION'])
    const id = await confirmed(client)
    expect(await mailed()).toEqual([true, 'addresses that are ACTIVE: 1'])
    await owner.withKey('PUT', `${recipientsAt}/${id}`, { status: 'DISABLED' })
    expect(await mailed()).toEqual([
      false,
      'no address is ACTIVE: 1 DISABLED, 1 PENDING_VERIFICATION',
    ])
  })
})

describe('webhooks are explained', () => {
  const at = '/notifications/webhooks'
  const body = { url: 'https://93.184.215.14/', event_types: ['vault.created'] }

  test('without one that is subscribed, with one, and with one that is paused', async () => {
    expect((await explained()).webhooks.delivered).toBe(false)
    await owner.withKey('POST', at, { ...body, event_types: ['vault.deleted'] })
    const none = { delivered: false, reason: 'no webhook is subscribed to it' }
    expect((await explained()).webhooks).toEqual(none)
    const { id } = (await owner.withKey<{ id: string }>('POST', at, body)).body
    expect((await explained()).webhooks).toEqual({
      delivered: true,
      reason: 'subscribed and ACTIVE: 1; preferences never hold back webhooks',
    })
    await owner.withKey('PUT', `${at}/${id}`, { status: 'PAUSED' })
    expect((await explained()).webhooks).toEqual({
      delivered: false,
      reason: 'no subscribed webhook can be notified: 1 PAUSED',
    })
  })

  test('with one from before that leads to a name which is refused by now', async () => {
    const { id } = (await owner.withKey<{ id: string }>('POST', at, body)).body
    const state = new DatabaseSync(join(mailing.process.dataDir, 'state.db'))
    state.exec(`PRAGMA busy_timeout = 5000`)
    state.prepare('UPDATE webhooks SET url = ? WHERE id = ?').run('http://localhost/', id)
    const eventOf = state.prepare('SELECT id FROM events WHERE resource_id = ?')
    const event = eventOf.get(await vaultOf(owner)) as { readonly id: string }
    state.close()
    expect((await explained()).webhooks).toEqual({
      delivered: false,
      reason: 'no subscribed webhook can be notified: 1 leading to where none may',
    })
    const path = `${at}/${id}/deliveries/explain?eventId=${event.id}`
    const { checks } = (await owner.withKey<{ checks: readonly object[] }>('GET', path)).body
    expect(checks).toContainEqual({
      check: 'destination',
      passed: false,
      message: expect.stringMatching(/names in 'localhost' are kept from public DNS/) as string,
    })
  })
})

test('what never happens, and what nothing sends, is delivered nowhere', async () => {
  await owner.withKey('PUT', '/notifications/preferences', {
    global_preferences: { push_enabled: true },
    event_preferences: {
      'vault.created': { enabled: true, channels: ['push', 'email', 'in_app'] },
      'vault.updated': { enabled: true, channels: ['push', 'email', 'in_app'] },
    },
  })
  const { channels } = await explained()
  expect([channels.push.delivered, channels.in_app.delivered]).toEqual([false, true])
  const never = await explained('vault.updated')
  const all = Object.values(never.channels).map(({ delivered }) => delivered)
  expect([...all, never.webhooks.delivered]).toEqual([false, false, false, false])
})
