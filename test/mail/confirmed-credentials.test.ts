import { afterAll, expect, test } from 'vitest'
import { MailClient, newAddress, recipientsAt } from '../support/mail-client.ts'
import { MailServer } from '../support/mail-server.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { publicAddress } from '../support/service-process.ts'

const server = await MailServer.start()
const service = runningService({ STREAMVAULT_SMTP_URL: server.url, ...(await publicAddress()) })

afterAll(() => server[Symbol.asyncDispose]())

interface Credential {
  readonly key: string
  readonly validated: boolean
}

async function addCredential(person: Person, key: string): Promise<Credential> {
  const path = `/users/${person.userId}/credentials`
  return (await person.withKey<Credential>('POST', path, { key })).body
}

async function validated(person: Person): Promise<readonly boolean[]> {
  const { body } = await person.withKey<{ credentials: readonly Credential[] }>('GET', '/users')
  return body.credentials.map((one) => one.validated)
}

test('an address is validated while its user has it as a recipient that was confirmed', async () => {
  const ada = await newPerson(service.api)
  const client = new MailClient(ada, server)
  const email = newAddress()
  expect((await addCredential(ada, email.toUpperCase())).validated).toBe(false)
  await addCredential(ada, newAddress())

  await client.added(email)
  expect(await validated(ada)).toEqual([false, false])
  await ada.withKey('DELETE', `${recipientsAt}/${(await client.listed()).content[0]?.id}`)
  const { id } = await client.confirmed(newAddress())
  expect(await validated(ada)).toEqual([false, false])
  await ada.withKey('DELETE', `${recipientsAt}/${id}`)

  const other = newAddress()
  const confirmed = await client.confirmed(other)
  expect((await addCredential(ada, other.toUpperCase())).validated).toBe(true)
  expect(await validated(ada)).toEqual([false, false, true])
  expect((await client.change(confirmed.id, { status: 'DISABLED' })).status).toBe(200)
  expect(await validated(ada)).toEqual([false, false, true])
  expect((await ada.withKey('DELETE', `${recipientsAt}/${confirmed.id}`)).status).toBe(204)
  expect(await validated(ada)).toEqual([false, false, false])
})

test('what somebody else has confirmed validates nothing', async () => {
  const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
  const email = newAddress()
  await new MailClient(bob, server).confirmed(email)

  expect((await addCredential(ada, email)).validated).toBe(false)
  expect(await validated(ada)).toEqual([false])
})
