import { afterAll, beforeEach, expect, test } from 'vitest'
import { FaultyService } from '../../support/faulty-service.ts'
import { MailClient, newAddress } from '../../support/mail-client.ts'
import { MailServer, type ReceivedMail } from '../../support/mail-server.ts'
import { vaultOf } from '../../support/people.ts'
import { publicAddress } from '../../support/service-process.ts'
import { testReceiver } from '../../support/test-receiver.ts'

const receiver = await testReceiver()
const server = await MailServer.start()

beforeEach(() => {
  server.behaviour = {}
  server.received.length = 0
})

afterAll(() => server[Symbol.asyncDispose]())

/** A service with an address that is told of events. */
async function started() {
  const service = await FaultyService.start({
    STREAMVAULT_SMTP_URL: server.url,
    STREAMVAULT_EGRESS_ALLOW: receiver.destination,
    ...(await publicAddress()),
  })
  const email = newAddress()
  const { id } = await new MailClient(service.api, server).confirmed(email)
  return { service, email, id }
}

/** The mails about vaults, by the vault that they are about, in the order in which they came. */
function toldOf(email: string): readonly string[] {
  return mailsTo(email).map(({ parsed }) => /\/vaults\/(\S+)/.exec(parsed.text ?? '')?.[1] ?? '')
}

function mailsTo(email: string): readonly ReceivedMail[] {
  return server.received.filter(
    ({ to, parsed }) => to.includes(email) && parsed.subject?.startsWith('Vault') === true,
  )
}

/** Resolves when no mail waits any more. */
async function ended(service: FaultyService): Promise<void> {
  await service.until('all mails have ended', async () => {
    return (await service.metric('deliveries_pending')) === 0
  })
}

async function newVaults({ api }: FaultyService, count: number): Promise<readonly string[]> {
  const vaults: string[] = []
  for (let vault = 0; vault < count; vault++) vaults.push(await vaultOf(api))
  return vaults
}

test('killed when mails are written, taken or in flight, all of them come, and only those in flight twice', async () => {
  const { service, email } = await started()
  await using _ = service
  const inFlight = Promise.withResolvers<undefined>()
  server.behaviour = { onMail: () => inFlight.promise }
  const vaults = await newVaults(service, 20)
  await service.until('some are in flight', async () => mailsTo(email).length >= 4)
  await service.kill()
  server.drop()
  // A mail of which the server had everything comes to us all the same.
  await expect.poll(() => server.connections).toBe(0)
  const before = toldOf(email)
  server.behaviour = {}

  await service.restart()

  await service.until('all have come', async () => new Set(toldOf(email)).size === 20)
  await ended(service)
  expect(new Set(toldOf(email))).toEqual(new Set(vaults))
  const twice = toldOf(email).filter((id, index, all) => all.indexOf(id) !== index)
  expect(twice.toSorted()).toEqual([...before].toSorted())
  // Who gets it twice can tell: it is the same mail.
  const ids = mailsTo(email).map(({ parsed }) => parsed.messageId)
  expect(new Set(ids).size).toBe(20)
})

test('killed between the answer of the mail server and its record, that mail comes once more', async () => {
  const { service, email } = await started()
  await using _ = service
  const answered = Promise.withResolvers<void>()
  server.behaviour = {
    onMail: () => {
      // From here on nothing of the outcome can be written.
      service.faults.begin('hold', 'state.db')
      setTimeout(answered.resolve, 200)
      return undefined
    },
  }
  const [vaultId] = await newVaults(service, 1)
  await answered.promise
  await service.kill()
  server.behaviour = {}

  await service.restart()

  await service.until('it has come again', async () => toldOf(email).length === 2)
  await ended(service)
  expect(toldOf(email)).toEqual([vaultId, vaultId])
  const [first, again] = mailsTo(email).map(({ parsed }) => parsed.messageId)
  expect(again).toBe(first)
})

test('killed after the record, nothing comes again', async () => {
  const { service, email } = await started()
  await using _ = service
  const [first] = await newVaults(service, 1)
  await service.until('it has come', async () => toldOf(email).length === 1)
  await ended(service)
  await service.kill()

  await service.restart()

  const [later] = await newVaults(service, 1)
  await service.until('the next has come', async () => toldOf(email).length === 2)
  await ended(service)
  expect(toldOf(email)).toEqual([first, later])
})

test('a mail server that hangs holds up no webhook, and stops no service', async () => {
  const { service, email } = await started()
  await using _ = service
  const body = { url: receiver.url, event_types: ['vault.created'] }
  await service.api.withKey('POST', '/notifications/webhooks', body)
  server.behaviour = { onMail: () => new Promise(() => undefined) }
  const before = receiver.received.length
  // Far more than there are connections to the mail server.
  await newVaults(service, 40)
  await receiver.requests(before + 40)
  await expect.poll(() => toldOf(email).length).toBeGreaterThan(0)
  expect(toldOf(email).length).toBeLessThan(8)
  expect(await service.metric('mail_attempts_running')).toBeGreaterThan(0)
})
