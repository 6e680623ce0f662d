import { afterAll, expect, test } from 'vitest'
import { newKey } from '../../src/ledgers/keys/make-key.ts'
import { LedgerNodeServer } from '../support/ledger-node.ts'
import { everythingHasCome, MailClient, newAddress } from '../support/mail-client.ts'
import { MailServer } from '../support/mail-server.ts'
import { createKey, createUser, newPerson, personOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { publicAddress } from '../support/service-process.ts'

/** Gas of an anchor, as its price is shown. */
const gas = 60_000n

const server = await MailServer.start()
const node = await LedgerNodeServer.start('evm', { fee: 1n, balance: 1_000n * gas })
const service = runningService({
  STREAMVAULT_SMTP_URL: server.url,
  STREAMVAULT_LEDGER_ETHEREUM: node.http('needle-0123456789'),
  STREAMVAULT_LEDGER_ETHEREUM_NETWORK: 'eip155:31337',
  STREAMVAULT_LEDGER_ETHEREUM_CONTRACT: `0x${'5'.repeat(40)}`,
  ...(await publicAddress()),
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await node[Symbol.asyncDispose]()
})

interface InboxPage {
  readonly content: readonly { readonly event_type: string; readonly type: string }[]
}

const warning = 'security.ledger_funds_low'

test('who runs the service gets one mail and one entry that the account is nearly empty, and nobody else', async () => {
  const { api } = service
  const scopes = ['platform:admin', 'notifications:read', 'notifications:write']
  const userId = await createUser(api)
  const operator = personOf(api, await createKey(api, { userId, permission: 'custom', scopes }))
  const guest = await newPerson(api, {
    permission: 'custom',
    scopes: ['vaults:read', 'notifications:read', 'notifications:write'],
  })
  const [told, untold] = [newAddress(), newAddress()]
  await new MailClient(operator, server).confirmed(told)
  await new MailClient(guest, server).confirmed(untold)
  const { privateKey, account } = await newKey('evm')
  await api.withKey('POST', '/ledger-keys', { ledger: 'ETHEREUM', secret: privateKey })

  node.state.balance = 7n * gas

  const mails = (email: string) =>
    server.received.filter(
      ({ to, parsed }) => to.includes(email) && parsed.subject?.includes('ledger'),
    )
  const entries = async ({ withKey }: typeof operator) => {
    const { body } = await withKey<InboxPage>('GET', '/notifications/in-app')
    return body.content.filter((entry) => entry.event_type === warning)
  }
  const looked = async () => {
    await api.withKey('GET', '/ledgers')
    return mails(told).length
  }
  await expect.poll(looked, { timeout: 60_000, interval: 500 }).toBe(1)
  const [mail] = mails(told)
  expect(mail?.parsed.subject).toBe(`Account of a ledger is nearly empty: ETHEREUM ${account}`)
  expect(mail?.parsed.text).toContain('Ledger: ETHEREUM\nAnchors it can pay for: 7\n')
  expect(mail?.raw.toString()).not.toContain('needle')
  expect(await entries(operator)).toMatchObject([{ type: 'ACTION_REQUIRED' }])

  // Even emptier: whoever was told is not told again.
  const asked = node.asked
  node.state.balance = 1n * gas
  const askedAgain = async () => {
    await api.withKey('GET', '/ledgers')
    return node.asked
  }
  await expect.poll(askedAgain, { timeout: 60_000, interval: 500 }).toBeGreaterThan(asked)
  await everythingHasCome(service.process.http)
  expect(mails(told)).toHaveLength(1)
  expect(await entries(operator)).toHaveLength(1)
  expect([mails(untold), await entries(guest)]).toEqual([[], []])
})
