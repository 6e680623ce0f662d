import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import {
  everythingHasCome,
  MailClient,
  type MailPage,
  newAddress,
  oneClick,
  oneClickOf,
  type RecipientBody,
  recipientsAt,
} from '../support/mail-client.ts'
import { MailServer } from '../support/mail-server.ts'
import { newPerson, type Person } from '../support/people.ts'
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

async function add(email: string, body: object = {}, person = owner) {
  return await person.withKey<RecipientBody & ErrorBody>('POST', recipientsAt, { email, ...body })
}

describe('a user has five addresses at most', () => {
  test('the sixth is refused, and those that are switched off count', async () => {
    const emails = Array.from({ length: 5 }, newAddress)
    for (const email of emails) await client.added(email)
    const { content } = await client.listed()
    await client.change(content[0]?.id ?? '', { status: 'DISABLED' })

    const { status, body } = await add(newAddress())
    expect([status, body.error, body.details?.[0]?.path]).toEqual([400, 'invalid_request', 'email'])
    expect(body.message).toContain('5 addresses at most')
    expect((await client.listed()).total_records).toBe(5)
  })

  test('each once, in whatever case, and however its domain is spelled', async () => {
    await client.added('Ada.Lovelace@Bücher.Example')
    for (const email of ['ada.lovelace@bücher.example', 'ADA.LOVELACE@XN--BCHER-KVA.EXAMPLE']) {
      const { status, body } = await add(email)
      expect([email, status, body.message]).toEqual([
        email,
        400,
        'email is one of your addresses already',
      ])
    }
    expect((await client.listed()).content.map(({ email }) => email)).toEqual([
      'Ada.Lovelace@Bücher.Example',
    ])
  })

  test('ten that are added at once make five', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => add(newAddress())))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array.from({ length: 5 }, () => 201),
      ...Array.from({ length: 5 }, () => 400),
    ])
    expect((await client.listed()).content).toHaveLength(5)
  })

  test('the same one that is added ten times at once is one, and is asked once', async () => {
    const email = newAddress()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => add(index % 2 ? email : email.toUpperCase())),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    await everythingHasCome(service.process.http)
    const asked = server.received.filter(({ to }) => to[0]?.toLowerCase() === email)
    expect(asked).toHaveLength(1)
  })

  test('who removes one has room for another', async () => {
    for (let count = 0; count < 5; count++) await client.added()
    const [first] = (await client.listed()).content
    const { status } = await owner.withKey('DELETE', `${recipientsAt}/${first?.id}`)
    expect([status, (await add(newAddress())).status]).toEqual([204, 201])
  })

  test('another user may have the same one', async () => {
    const email = newAddress()
    await client.added(email)
    expect((await add(email, {}, await newPerson(service.api))).status).toBe(201)
  })
})

describe('what is no address', () => {
  test.each([
    'ada',
    '@plant.example',
    'ada@',
    'ada@plant..example',
    'ada@-plant.example',
    'ada@[127.0.0.1]',
    'ada@127.0.0.1',
    'ada@2130706433',
    'Ada <ada@plant.example>',
    '"ada"@plant.example',
    'ada@plant.example,eve@plant.example',
    'ada@plant.example\r\nBcc: eve@plant.example',
    'ada@plant.example\nX: y',
    'ada @plant.example',
    'ada@plant.example ',
    'ädä@plant.example',
    'ada@plant.example/x',
    'ada@plant.example?subject=x',
    'ada@plant.example%0d%0aBcc:eve@plant.example',
    `${'a'.repeat(65)}@plant.example`,
    `ada@${'plant.'.repeat(50)}example`,
  ])('is refused: %j', async (email) => {
    const { status, body } = await add(email)
    expect([status, body.error, body.details?.[0]?.path]).toEqual([400, 'invalid_request', 'email'])
  })

  test('a member that is not known is refused by its name', async () => {
    const { status, body } = await add(newAddress(), { event_types: [] })
    expect([status, body.details?.[0]?.path]).toEqual([400, 'event_types'])
  })
})

test('what others have is not there: not to read, not to change, not in a list', async () => {
  const { id } = await client.confirmed()
  const stranger = await newPerson(service.api)
  const statuses = [
    await stranger.withKey('GET', `${recipientsAt}/${id}`),
    await stranger.withKey('GET', `${recipientsAt}/${id}/deliveries`),
    await stranger.withKey('PUT', `${recipientsAt}/${id}`, { status: 'DISABLED' }),
    await stranger.withKey('POST', `${recipientsAt}/${id}/verification`),
    await stranger.withKey('DELETE', `${recipientsAt}/${id}`),
  ].map(({ status }) => status)
  expect(statuses).toEqual([404, 404, 404, 404, 404])
  const list = await stranger.withKey<MailPage<RecipientBody>>('GET', recipientsAt)
  expect(list.body.total_records).toBe(0)
  expect((await client.read(id)).status).toBe('ACTIVE')
})

test('who has changed an address is written down, without the address', async () => {
  const email = newAddress()
  const { id } = await client.confirmed(email)
  await client.change(id, { filters: { severities: ['critical'] } })
  await client.change(id, { filters: { severities: ['critical'] } })
  await oneClick(oneClickOf(await client.question(email)))
  await owner.withKey('DELETE', `${recipientsAt}/${id}`)
  const { body } = await service.api.withToken<readonly AuditEntry[]>(
    'GET',
    `/audit?userId=${owner.userId}`,
  )
  const entries = body.filter(({ subjectId }) => subjectId === id)
  expect(entries.map(({ action }) => action).toReversed()).toEqual([
    'email.created',
    'email.verified',
    'email.changed',
    'email.unsubscribed',
    'email.deleted',
  ])
  expect(JSON.stringify(entries)).not.toContain(email)
  expect(entries.at(-1)?.details).toEqual({ domain: 'plant.example' })
})

interface AuditEntry {
  readonly action: string
  readonly subjectId: string
  readonly details: object
}
