import { expect, test } from 'vitest'
import { FaultyService } from '../../support/faulty-service.ts'
import { answering, hanging } from '../../support/receiver.ts'
import { testReceiver } from '../../support/test-receiver.ts'

const receiver = await testReceiver()

/** A service with a webhook that is told of new vaults and streams. */
async function started(): Promise<FaultyService> {
  const service = await FaultyService.start({ STREAMVAULT_EGRESS_ALLOW: receiver.destination })
  const body = { url: receiver.url, event_types: ['vault.created', 'stream.created'] }
  await service.api.withKey('POST', '/notifications/webhooks', body)
  return service
}

async function newTemplate({ api }: FaultyService): Promise<string> {
  const body = { name: 'boiler', hint: '', required_streams: [] }
  return (await api.withKey<{ id: string }>('POST', '/templates', body)).body.id
}

async function newVault({ api }: FaultyService, templateId: string): Promise<string> {
  const body = { template_id: templateId, name: 'boiler 7' }
  return (await api.withKey<{ id: string }>('POST', '/vaults', body)).body.id
}

/** The vaults that the receiver was told of, in the order of the requests. */
function told(): readonly string[] {
  return receiver.received.map(
    ({ body }) => (JSON.parse(body.toString()) as { data: { id: string } }).data.id,
  )
}

/** Resolves when nothing waits any more: each delivery has ended. */
async function ended(service: FaultyService, deliveries: number): Promise<void> {
  const { api } = service
  const { body } = await api.withKey<List>('GET', '/notifications/webhooks')
  await service.until('all deliveries have ended', async () => {
    const path = `/webhooks/${body.content[0]?.id}/logs?limit=1000`
    const { logs } = (await api.withToken<Logs>('GET', path)).body
    const open = logs.filter(({ deliveryStatus }) => deliveryStatus === 'pending')
    return logs.length === deliveries && open.length === 0
  })
}

interface List {
  readonly content: readonly { readonly id: string }[]
}

interface Logs {
  readonly logs: readonly { readonly deliveryStatus: string }[]
}

test('killed before the change is written, nobody is told of what has not happened', async () => {
  await using service = await started()
  const templateId = await newTemplate(service)
  service.faults.begin('hold', 'state.db')
  const asked = newVault(service, templateId).catch(() => 'nothing')
  // Requests that are answered now have come after it.
  for (let other = 0; other < 20; other++) await service.api.request('GET', '/health/live')
  await service.kill()
  expect(await asked).toBe('nothing')

  await service.restart()

  const { body } = await service.api.withKey<{ total_records: number }>('GET', '/vaults')
  await ended(service, body.total_records)
  expect(told()).toHaveLength(body.total_records)
})

test('killed when deliveries are written, taken or under way, all of them come', async () => {
  await using service = await started()
  receiver.behaviour = hanging
  const templateId = await newTemplate(service)
  const vaults: string[] = []
  // Four attempts at first; some are taken and wait, and the rest nobody has taken.
  for (let vault = 0; vault < 40; vault++) vaults.push(await newVault(service, templateId))
  await receiver.requests(4)
  await service.kill()
  const underWay = told()
  expect(underWay).toHaveLength(4)
  receiver.behaviour = answering(200)

  await service.restart()

  await receiver.requests(44)
  await ended(service, 40)
  expect(told().slice(4).toSorted()).toEqual(vaults.toSorted())
  const [first] = receiver.received
  const again = receiver.received.slice(4).find(({ body }) => first && body.equals(first.body))
  expect(again).toBeDefined()
})

test('killed while it tells of very many, all of them come, once they were acknowledged', async () => {
  await using service = await started()
  receiver.behaviour = hanging
  const vaultId = await newVault(service, await newTemplate(service))
  await receiver.requests(1)
  const source = { deviceId: 'd', protocol: 'http' }
  const definition = { vaultId, type: 'iot_sensor', source, schema: { v: { type: 'number' } } }
  const streams = Array.from({ length: 900 }, (_, index) => ({ name: `pump ${index}` }))
  const made = await service.api.withToken<{ streams: readonly { streamId: string }[] }>(
    'POST',
    '/streams/bulk',
    { definition, streams },
  )
  await service.kill()
  expect(made.status).toBe(201)
  const before = receiver.received.length
  receiver.behaviour = answering(200)

  await service.restart()

  await ended(service, 901)
  const ids = made.body.streams.map(({ streamId }) => streamId)
  expect(new Set(told().slice(before))).toEqual(new Set([vaultId, ...ids]))
})

test('killed between answer and record, what was under way comes once more', async () => {
  await using service = await started()
  const templateId = await newTemplate(service)
  const answered = Promise.withResolvers<void>()
  receiver.behaviour = (response) => {
    // From here on nothing of the outcome can be written.
    service.faults.begin('hold', 'state.db')
    response.on('close', () => answered.resolve())
    response.end(() => answered.resolve())
  }
  const vaultId = await newVault(service, templateId)
  await answered.promise
  await service.kill()
  receiver.behaviour = answering(200)

  await service.restart()

  await receiver.requests(2)
  await ended(service, 1)
  expect(told()).toEqual([vaultId, vaultId])
  expect(receiver.received[1]?.body).toEqual(receiver.received[0]?.body)
})

test('killed after the record, nothing comes again', async () => {
  await using service = await started()
  const vaultId = await newVault(service, await newTemplate(service))
  await receiver.requests(1)
  await ended(service, 1)
  await service.kill()

  await service.restart()

  // What would come again would come before this.
  const later = await newVault(service, await newTemplate(service))
  await receiver.requests(2)
  await ended(service, 2)
  expect(told()).toEqual([vaultId, later])
})
