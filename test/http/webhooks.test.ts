import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifySignature } from '../../src/webhooks/verify-signature.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { Receiver } from '../support/receiver.ts'
import { runningService } from '../support/running-service.ts'

const receiver = await Receiver.start()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: receiver.destination })
let owner: Person

beforeAll(async () => {
  owner = await newPerson(service.api)
})

afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
})

interface WebhookBody {
  readonly id: string
  readonly secret: string | null
  readonly status: string
  readonly event_types: readonly string[]
  readonly warnings: readonly string[]
}

describe('a webhook', () => {
  test('is told of a vault in the emitted format', async () => {
    const { status } = await owner.withKey<WebhookBody>('POST', '/notifications/webhooks', {
      url: receiver.url,
      event_types: ['vault.created'],
      secret: 'a secret',
    })
    expect(status).toBe(201)
    const id = await vaultOf(owner)
    const [received] = await receiver.requests(1)
    const body = JSON.parse(received?.body.toString() ?? '') as object
    expect(body).toMatchObject({ event_type: 'vault.created', data: { id } })
    expect(
      verifySignature({ body: received?.body ?? '', headers: received?.headers ?? {} }, 'a secret'),
    ).toBe(true)
  })
})
