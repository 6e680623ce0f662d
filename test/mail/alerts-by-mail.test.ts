import { afterAll, expect, test } from 'vitest'
import { RuledStream, tooHot } from '../support/alerting.ts'
import { linkIn, MailClient, newAddress } from '../support/mail-client.ts'
import { MailServer } from '../support/mail-server.ts'
import { runningService } from '../support/running-service.ts'
import { publicAddress } from '../support/service-process.ts'

const server = await MailServer.start()
const service = runningService({ STREAMVAULT_SMTP_URL: server.url, ...(await publicAddress()) })

afterAll(() => server[Symbol.asyncDispose]())

const burning = { ...tooHot, id: 'burning', threshold: 200, severity: 'critical' } as const

test('an address is told of alerts of the severities that it wants, and of all else', async () => {
  const client = new MailClient(service.api, server)
  const [everything, critical] = [newAddress(), newAddress()]
  await client.confirmed(everything)
  const { filters } = await client.confirmed(critical, { filters: { severities: ['critical'] } })
  expect(filters).toEqual({ severities: ['critical'] })
  const stream = await RuledStream.make(service.api, tooHot, burning)
  await stream.push(90, 300, 20)

  const alerts = (email: string) =>
    server.received
      .filter(({ to }) => to.includes(email))
      .map(({ parsed }) => parsed.subject ?? '')
      .filter((subject) => subject.includes('alert'))
      .toSorted()
  await expect.poll(() => alerts(everything)).toHaveLength(4)
  await expect.poll(() => alerts(critical)).toHaveLength(2)
  expect(alerts(critical)).toEqual([
    'Stream alert (critical): temperature',
    'Stream alert cleared (critical): temperature',
  ])
  // Streams and vaults have no severity.
  const all = () => server.received.filter(({ to }) => to.includes(critical)).length
  await expect.poll(all).toBeGreaterThan(3)
})

test('the severities can be changed, and an empty list leaves nothing out again', async () => {
  const client = new MailClient(service.api, server)
  const { id } = await client.added()
  const path = `/notifications/email-configs/${id}`
  for (const severities of [['info', 'warning', 'info'], []]) {
    const { body } = await service.api.withKey('PUT', path, { filters: { severities } })
    expect(body).toMatchObject({ filters: { severities: [...new Set(severities)] } })
  }
  const filters = { severities: ['terrible'] }
  const { status } = await service.api.withKey('PUT', path, { filters })
  expect(status).toBe(400)
  await service.api.withKey('DELETE', path)
})

test('a mail says what was measured, and leads to the alert; the alert says who was told', async () => {
  const client = new MailClient(service.api, server)
  const email = newAddress()
  const recipient = await client.confirmed(email)
  const stream = await RuledStream.make(service.api, tooHot)
  await stream.push(90)
  const { alertId } = await stream.alert()
  await expect
    .poll(() =>
      server.received.find(
        ({ to, parsed }) => to.includes(email) && parsed.text?.includes(alertId),
      ),
    )
    .toBeDefined()
  const mail = server.received.find(({ parsed }) => parsed.text?.includes(alertId))
  expect(mail && linkIn(mail)).toBe(`${service.process.http}/console/record/alert/${alertId}`)
  expect(mail?.parsed.text).toContain(
    'Rule: too-hot\nField: temperature\nValue: 90\nThreshold: 80\n',
  )

  interface Explanation {
    readonly steps: readonly { readonly deliveries: readonly object[] }[]
  }
  const read = async () => {
    const path = `/alerts/${alertId}/explain`
    const { body } = await service.api.withToken<Explanation>('GET', path)
    return body.steps.flatMap(({ deliveries }) => deliveries)
  }
  await expect
    .poll(read)
    .toContainEqual(
      expect.objectContaining({ recipientId: recipient.id, webhookId: null, state: 'delivered' }),
    )
  const records = await client.attemptsOf(recipient.id, 2)
  const receipts = (await read()).map((one) => (one as { deliveryId: string }).deliveryId)
  expect(receipts).toContain(records[0]?.delivery_id)
})
