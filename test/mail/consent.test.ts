import * as fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import {
  everythingHasCome,
  linkIn,
  MailClient,
  newAddress,
  oneClick,
  oneClickOf,
  pressed,
  type RecipientBody,
  recipientsAt,
} from '../support/mail-client.ts'
import { MailServer, type ReceivedMail } from '../support/mail-server.ts'
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

afterAll(() => server[Symbol.asyncDispose]())

describe('an address that was not confirmed', () => {
  test('is asked, and told nothing else', async () => {
    const email = newAddress()
    const { id, status } = await client.added(email)
    expect(status).toBe('PENDING_VERIFICATION')
    await vaultOf(owner)
    await everythingHasCome(service.process.http)

    expect((await client.question(email)).parsed.subject).toBe(
      'Confirm this address for notifications',
    )
    expect(server.countTo(email)).toBe(1)
    expect(await client.read(id)).toMatchObject({
      status: 'PENDING_VERIFICATION',
      verified_at: null,
    })
  })

  test('cannot be switched on by its user', async () => {
    const { id } = await client.added()
    const answer = await client.change(id, { status: 'ACTIVE' })
    expect([answer.status, answer.body.error]).toEqual([409, 'conflict'])
    expect(answer.body.message).toContain('the address is not confirmed')
    await client.change(id, { status: 'DISABLED' })
    expect((await client.change(id, { status: 'ACTIVE' })).status).toBe(409)
    expect((await client.read(id)).status).toBe('DISABLED')
  })

  test('is asked with words of ours only', async () => {
    const { body } = await service.api.withKey<{ id: string }>('POST', '/users', {
      username: `buy-now-${process.pid}`,
      first_name: 'BUY NOW',
      last_name: 'https://evil.example',
    })
    const { key } = await newPerson(service.api)
    expect(body.id).toBeDefined()
    const email = newAddress()
    await client.added(email)
    const { raw } = await client.question(email)
    expect(raw.toString()).not.toContain(key.apiKey)
    expect(raw.toString()).not.toMatch(/Ada|Lovelace|BUY NOW/)
  })

  test('can be asked again, and by the first mail as well', async () => {
    const email = newAddress()
    const { id } = await client.added(email)
    const path = `${recipientsAt}/${id}/verification`
    const again = await owner.withKey<RecipientBody>('POST', path)
    expect([again.status, again.body.status]).toEqual([202, 'PENDING_VERIFICATION'])
    const [first] = await server.mailsTo(email, 2)
    expect((await pressed(linkIn(first as ReceivedMail))).status).toBe(200)
    expect((await client.read(id)).status).toBe('ACTIVE')
    expect((await owner.withKey('POST', path)).status).toBe(409)
  })

  test('is asked ten times a day at most, whoever names it and removes it', async () => {
    const email = newAddress()
    const statuses: number[] = []
    for (let count = 0; count < 11; count++) {
      const person = count % 2 ? owner : await newPerson(service.api)
      const { status, body } = await person.withKey<RecipientBody>('POST', recipientsAt, { email })
      statuses.push(status)
      if (status === 201) await person.withKey('DELETE', `${recipientsAt}/${body.id}`)
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 201), 429])
  })
})

describe('the link that confirms', () => {
  test('is good for its address only, and for nothing else', async () => {
    const [email, other] = [newAddress(), newAddress()]
    const { id } = await client.added(email)
    const { id: otherId } = await client.added(other)
    const link = linkIn(await client.question(email))
    const forged = [
      link.replace(id, otherId),
      link.slice(0, -1),
      `${link.slice(0, -1)}${link.endsWith('0') ? '1' : '0'}`,
      link.replace(/\.(\d{16})\./, (_, expires: string) => `.${Number(expires) + 1}.`),
      oneClickOf(await client.question(other)).replace('unsubscribe', 'verify'),
    ]
    for (const one of forged) expect([one, (await pressed(one)).status]).toEqual([one, 404])
    expect((await client.listed()).content.map(({ status }) => status)).toEqual([
      'PENDING_VERIFICATION',
      'PENDING_VERIFICATION',
    ])
    expect((await pressed(link)).status).toBe(200)
    expect((await client.read(otherId)).status).toBe('PENDING_VERIFICATION')
  })

  test('does nothing when it is only looked at: the page has a button', async () => {
    const email = newAddress()
    const { id } = await client.added(email)
    const link = linkIn(await client.question(email))
    await fetch(link, { method: 'HEAD' })
    const page = await fetch(link)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html'])
    expect(await page.text()).toContain('<form method="post"><button>Confirm</button></form>')
    expect((await client.read(id)).status).toBe('PENDING_VERIFICATION')
  })

  test('answers the same when the button is pressed twice', async () => {
    const email = newAddress()
    const { id } = await client.added(email)
    const link = linkIn(await client.question(email))
    expect([(await pressed(link)).status, (await pressed(link)).status]).toEqual([200, 200])
    expect((await client.read(id)).verified_at).not.toBeNull()
    expect(await (await fetch(link)).text()).toContain('Address confirmed')
  })

  test('does not bring back what was switched off or removed', async () => {
    const email = newAddress()
    const { id } = await client.added(email)
    const link = linkIn(await client.question(email))
    await client.change(id, { status: 'DISABLED' })
    expect([(await fetch(link)).status, (await pressed(link)).status]).toEqual([410, 410])
    await owner.withKey('DELETE', `${recipientsAt}/${id}`)
    expect([(await fetch(link)).status, (await pressed(link)).status]).toEqual([404, 404])
  })
})

describe('List-Unsubscribe', () => {
  test('is one click for a program, and needs no credentials (RFC 8058)', async () => {
    const email = newAddress()
    const { id } = await client.confirmed(email)
    await vaultOf(owner)
    const [, mail] = await server.mailsTo(email, 2)
    const header = mail?.parsed.headers.find(({ key }) => key === 'list-unsubscribe-post')
    expect(header?.value).toBe('List-Unsubscribe=One-Click')
    expect(await oneClick(oneClickOf(mail as ReceivedMail))).toBe(200)
    expect(await client.read(id)).toMatchObject({ status: 'DISABLED', verified_at: null })

    await vaultOf(owner)
    await everythingHasCome(service.process.http)
    expect(server.countTo(email)).toBe(2)
    expect(await oneClick(oneClickOf(mail as ReceivedMail))).toBe(200)
  })

  test('takes multipart, and no body at all', async () => {
    for (const body of [new FormData(), undefined]) {
      body?.set('List-Unsubscribe', 'One-Click')
      const email = newAddress()
      const { id } = await client.confirmed(email)
      const url = oneClickOf(await client.question(email))
      const { status } = await fetch(url, { method: 'POST', ...(body && { body }) })
      expect(status).toBe(200)
      expect((await client.read(id)).status).toBe('DISABLED')
    }
  })

  test('does nothing when it is only looked at: the page has a button', async () => {
    const email = newAddress()
    const { id } = await client.confirmed(email)
    const page = await fetch(oneClickOf(await client.question(email)))
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(await page.text()).toContain('<form method="post"><button>Unsubscribe</button></form>')
    expect((await client.read(id)).status).toBe('ACTIVE')
  })

  test('cannot be forged, and is no link that confirms', async () => {
    const email = newAddress()
    const { id } = await client.confirmed(email)
    const url = oneClickOf(await client.question(email))
    const { id: other } = await client.confirmed()
    const forged = [url.replace(id, other), url.slice(0, -1), `${url}0`]
    for (const one of forged) expect([one, await oneClick(one)]).toEqual([one, 404])
    expect((await pressed(url.replace('unsubscribe', 'verify'))).status).toBe(404)
    expect((await client.read(other)).status).toBe('ACTIVE')
  })

  test('holds until the mailbox says yes again: its user cannot switch it on', async () => {
    const email = newAddress()
    const { id } = await client.confirmed(email)
    const asked = await client.question(email)
    await oneClick(oneClickOf(asked))
    expect((await client.change(id, { status: 'ACTIVE' })).status).toBe(409)
    expect((await pressed(linkIn(asked))).status).toBe(410)

    await owner.withKey('POST', `${recipientsAt}/${id}/verification`)
    const [, again] = await server.mailsTo(email, 2)
    expect((await pressed(linkIn(again as ReceivedMail))).status).toBe(200)
    expect((await client.read(id)).status).toBe('ACTIVE')
  })
})

test('whatever a link has for a token, it is a page that says so', async () => {
  const token = fc.string({ unit: 'binary', minLength: 1, maxLength: 80 })
  await fc.assert(
    fc.asyncProperty(token, fc.constantFrom('verify', 'unsubscribe'), async (text, what) => {
      const url = `${service.process.http}/mail/${what}/${encodeURIComponent(text)}`
      const { status } = await fetch(url)
      expect([400, 404]).toContain(status)
    }),
    { numRuns: 100 },
  )
})
