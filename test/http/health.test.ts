import { describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

const service = runningService()

/** Without credentials. */
function get(path: string): Promise<Response> {
  return fetch(service.process.http + path)
}

describe('health', () => {
  test('/health/live is 200 without credentials', async () => {
    const response = await get('/health/live')

    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ status: 'live' })
  })

  test.each(['/health', '/health/ready'])(
    '%s is 200 without credentials and names no failing part',
    async (path) => {
      const response = await get(path)

      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ status: 'ready', failing: {}, degraded: {} })
    },
  )
})

/** The lines of the answer. */
async function metrics(): Promise<string[]> {
  return (await (await get('/metrics')).text()).split('\n').filter((line) => line !== '')
}

function valueOf(lines: readonly string[], name: string): number {
  return Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1])
}

describe('/metrics', () => {
  test('is 200 without credentials, in the text format of Prometheus', async () => {
    const response = await get('/metrics')

    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  })

  test('has only comments and samples whose names begin with streamvault_', async () => {
    const line =
      /^# (HELP|TYPE) streamvault_\w+ .+$|^streamvault_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? (-?[\d.]+(e[+-]?\d+)?|NaN|[+-]Inf)$/i

    const wrong = (await metrics()).filter((text) => !line.test(text))

    expect(wrong).toEqual([])
  })

  test('says of each figure what it is, once and before it', async () => {
    const lines = await metrics()
    const types = lines.filter((line) => line.startsWith('# TYPE '))
    const names = types.map((line) => line.split(' ')[2])

    expect(new Set(names).size).toBe(names.length)
    for (const type of types) {
      const [, , name = '', kind] = type.split(' ')
      expect(lines.indexOf(type)).toBeLessThan(lines.findIndex((line) => line.startsWith(name)))
      if (kind === 'counter') expect(name).toMatch(/_total$/)
    }
  })

  test('counts accepted, refused, stored and repeated readings', async () => {
    const streamId = await service.api.createStream()
    const before = await metrics()
    const reading = { timestamp: '2026-01-01T00:00:00Z', temperature: 1 }

    await service.api.withToken('POST', `/streams/${streamId}/data`, [
      reading,
      reading,
      { temperature: 'hot' },
    ])
    await service.api.settled(streamId, 3)

    const after = await metrics()
    const added = (name: string) => valueOf(after, name) - valueOf(before, name)
    expect(added('streamvault_readings_accepted_total')).toBe(2)
    expect(added('streamvault_readings_quarantined_total')).toBe(1)
    expect(added('streamvault_readings_stored_total')).toBe(1)
    expect(added('streamvault_readings_duplicate_total')).toBe(1)
    expect(added('streamvault_journal_head')).toBe(3)
  })

  test('shows no lag at rest', async () => {
    const streamId = await service.api.createStream()
    await service.api.withToken('POST', `/streams/${streamId}/data`, { temperature: 1 })
    await service.api.settled(streamId, 1)

    const lines = await metrics()

    expect(valueOf(lines, 'streamvault_shipper_lag')).toBe(0)
    expect(valueOf(lines, 'streamvault_decider_lag')).toBe(0)
  })
})
