import { beforeEach, describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

const service = runningService()

interface Judged {
  readonly redriven: number
  readonly accepted: number
  readonly remaining: number
  readonly stillRefused: readonly { readonly id: number; readonly reason: string }[]
}

let streamId: string

beforeEach(async () => {
  streamId = await service.api.createStream({ temperature: { type: 'number' } })
  for (const temperature of ['hot', 'cold', true]) await push({ temperature })
})

function push(body: object) {
  return service.api.withToken('POST', `/streams/${streamId}/data`, body)
}

function tried(body?: object) {
  const path = `/streams/${streamId}/quarantine/trial`
  return service.api.withToken<Judged>('POST', path, body)
}

function redriven(body?: object) {
  const path = `/streams/${streamId}/quarantine/redrive`
  return service.api.withToken<Judged>('POST', path, body)
}

async function held(): Promise<readonly object[]> {
  const path = `/streams/${streamId}/quarantine`
  return (await service.api.withToken<{ entries: object[] }>('GET', path)).body.entries
}

const text = { schema: { temperature: { type: 'string' } } }

describe('a trial of a quarantine', () => {
  test('says what a redrive would do after a change, and does nothing', async () => {
    const before = await held()

    const { status, body } = await tried({ definition: text })

    expect(status).toBe(200)
    expect(body).toMatchObject({ redriven: 2, accepted: 2, remaining: 1 })
    expect(body.stillRefused).toMatchObject([{ reason: 'schema_mismatch' }])
    expect(await held()).toEqual(before)
    await service.api.withToken('PUT', `/streams/${streamId}`, text)
    expect((await redriven()).body).toEqual(body)
  })

  test('takes the definition as it is where there is no other', async () => {
    expect((await tried()).body).toMatchObject({ redriven: 0, remaining: 3 })
  })

  test('judges only what is chosen', async () => {
    const [first] = (await held()) as { id: number }[]

    const { body } = await tried({ ids: [first?.id], definition: text })

    expect(body).toMatchObject({ redriven: 1, remaining: 0 })
  })

  test('is of a paused stream as if it went on', async () => {
    await service.api.withToken('POST', `/streams/${streamId}/pause`)

    expect((await tried({ definition: text })).body).toMatchObject({ redriven: 2, remaining: 1 })
  })

  test('refuses a change that would be refused', async () => {
    const definition = { schema: { temperature: { type: 'warm' } } }

    expect(await tried({ definition })).toMatchObject({
      status: 400,
      body: { details: [{ path: 'schema.temperature.type' }] },
    })
  })
})
