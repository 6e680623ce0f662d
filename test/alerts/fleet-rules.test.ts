import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AlertBody, RuledStream } from '../support/alerting.ts'
import { type Answer, ApiClient } from '../support/api-client.ts'
import { newPerson } from '../support/people.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

let process: ServiceProcess
let api: ApiClient

async function start(dataDir: string): Promise<void> {
  process = await startServiceProcess(dataDir)
  api = new ApiClient(process.http)
}

beforeAll(() => start(newDataDir()))

afterAll(async () => {
  await process.end('SIGTERM')
  rmSync(process.dataDir, { recursive: true })
})

interface FleetRuleBody {
  readonly alertRuleId: string
  readonly ruleId: string
  readonly name: string
  readonly rule: object
  readonly streams: {
    readonly matching: number
    readonly pending: number
    readonly leftOut: number
  }
  readonly leftOut: readonly { readonly streamId: string; readonly reason: string }[]
}

const hot = { field: 'temperature', operator: '>', threshold: 80 } as const
const numbers = { temperature: { type: 'number' } } as const

interface Sample {
  readonly tags?: object
  readonly schema?: object
  readonly processing?: object
  readonly vaultId?: string
}

async function stream(sample: Sample = {}): Promise<RuledStream> {
  const { schema = numbers, vaultId = await api.createVault(), ...rest } = sample
  const body = { name: 'heat', vaultId, type: 'iot_sensor', schema, ...rest }
  const made = await api.withToken<{ streamId: string }>('POST', '/streams', body)
  expect(made.status).toBe(201)
  return new RuledStream(api, made.body.streamId)
}

async function rule(body: object): Promise<FleetRuleBody> {
  const made = await api.withToken<FleetRuleBody>('POST', '/alert-rules', { name: 'hot', ...body })
  expect(made).toMatchObject({ status: 201 })
  return made.body
}

async function read({ alertRuleId }: FleetRuleBody): Promise<FleetRuleBody> {
  return (await api.withToken<FleetRuleBody>('GET', `/alert-rules/${alertRuleId}`)).body
}

/** The rule, once all of its streams are as it wants them. */
async function settled(made: FleetRuleBody): Promise<FleetRuleBody> {
  await expect.poll(async () => (await read(made)).streams.pending).toBe(0)
  return await read(made)
}

async function put<Body>(path: string, body: object): Promise<Answer<Body>> {
  return await api.withToken<Body>('PUT', path, body)
}

/** As a restore would, whose state is from before the end of its journal. */
function forget(dataDir: string, table: string): void {
  using database = new DatabaseSync(join(dataDir, 'state.db'))
  database.exec(`DELETE FROM ${table}`)
}

/** Rules whose alerts fire. */
async function firing(one: RuledStream): Promise<readonly string[]> {
  return (await one.alerts('?state=firing')).map(({ ruleId }) => ruleId)
}

let kinds = 0

/** Tags that no other test uses. */
function newTags(): { readonly kind: string } {
  return { kind: `kind-${++kinds}` }
}

describe('a rule of a fleet', () => {
  test('holds for all streams of a vault, and for no others', async () => {
    const vaultId = await api.createVault()
    const present = await stream({ vaultId })
    const elsewhere = await stream()
    const made = await rule({ vaultId, rule: hot })
    expect((await settled(made)).streams).toEqual({ matching: 1, pending: 0, leftOut: 0 })

    const future = await stream({ vaultId })
    await settled(made)
    for (const one of [present, elsewhere, future]) await one.push(20, 81)

    const alert = { ruleId: made.ruleId, state: 'firing', value: 81, threshold: 80 }
    expect(await present.alerts()).toMatchObject([alert])
    expect(await future.alerts()).toMatchObject([alert])
    expect(await elsewhere.alerts()).toEqual([])
    const path = `/alerts?ruleId=${encodeURIComponent(made.ruleId)}`
    const listed = await api.withToken<readonly AlertBody[]>('GET', path)
    expect(listed.body.map(({ streamId }) => streamId).toSorted()).toEqual(
      [present.id, future.id].toSorted(),
    )
    expect((await future.act('acknowledge')).body.state).toBe('acknowledged')
  })

  test('follows the tags of a stream', async () => {
    const tags = newTags()
    const one = await stream({ tags: { ...tags, site: 'berlin' } })
    const other = await stream({ tags: { kind: 'none' } })
    const made = await rule({ tags, rule: hot })
    await settled(made)
    await one.push(90)
    await other.push(90)
    expect(await one.alerts()).toMatchObject([{ state: 'firing' }])
    expect(await other.alerts()).toEqual([])

    await put(`/streams/${one.id}`, { tags: { kind: null } })
    await put(`/streams/${other.id}`, { tags })
    await expect.poll(async () => (await one.alert()).state).toBe('cleared')
    expect((await settled(made)).streams.matching).toBe(1)
    await other.push(91)

    expect((await one.history()).at(-1)).toMatchObject({ cause: 'definition', to: 'cleared' })
    expect(await other.alerts()).toMatchObject([{ state: 'firing', value: 91 }])
  })

  test('ends its alerts when it is changed or deleted, with the definition as the cause', async () => {
    const tags = newTags()
    const one = await stream({ tags })
    const made = await rule({ tags, rule: hot })
    await settled(made)
    await one.push(90)
    expect((await one.alert()).state).toBe('firing')

    const path = `/alert-rules/${made.alertRuleId}`
    const renamed = await put<FleetRuleBody>(path, { name: 'too hot' })
    expect(renamed.body).toMatchObject({ name: 'too hot', rule: hot, tags })
    await settled(made)
    expect((await one.alert()).state).toBe('firing')

    await put(path, { rule: { ...hot, threshold: 85 } })
    await settled(made)
    expect((await one.history()).at(-1)).toMatchObject({ cause: 'definition', to: 'cleared' })
    await one.push(86)
    expect(await one.alert()).toMatchObject({ state: 'firing', threshold: 85 })

    expect((await api.withToken('DELETE', path)).status).toBe(204)
    await expect.poll(async () => (await one.alert()).state).toBe('cleared')
    expect((await one.history()).at(-1)).toMatchObject({ cause: 'definition', to: 'cleared' })
    await one.push(99)
    expect((await one.alert()).state).toBe('cleared')
    expect((await api.withToken('GET', path)).status).toBe(404)
  })

  test('leaves out streams that it does not fit, and says which', async () => {
    const tags = newTags()
    const fit = await stream({ tags })
    const without = await stream({ tags, schema: { door: { type: 'boolean' } } })
    const text = await stream({ tags, schema: { temperature: { type: 'string' } } })
    const compared = await settled(await rule({ tags, rule: hot }))
    const condition = await settled(await rule({ tags, rule: { condition: 'temperature > 80.0' } }))

    expect(compared.streams).toEqual({ matching: 3, pending: 0, leftOut: 2 })
    expect(
      Object.fromEntries(compared.leftOut.map(({ streamId, reason }) => [streamId, reason])),
    ).toEqual({
      [without.id]: expect.stringContaining('temperature'),
      [text.id]: expect.stringContaining('string'),
    })
    expect(condition.leftOut.map(({ streamId }) => streamId)).toContain(without.id)
    await fit.push(90)
    expect(await fit.alerts()).toHaveLength(2)
  })

  test('is taken from a stream that loses the field, and comes back with it', async () => {
    const tags = newTags()
    const one = await stream({ tags })
    const made = await rule({ tags, rule: { condition: 'temperature > 80.0' } })
    await settled(made)
    await one.push(90)
    expect((await one.alert()).state).toBe('firing')

    await put(`/streams/${one.id}`, { schema: { temperature: null, door: { type: 'boolean' } } })
    await expect.poll(async () => (await one.alert()).state).toBe('cleared')
    expect((await settled(made)).streams).toEqual({ matching: 1, pending: 0, leftOut: 1 })

    await put(`/streams/${one.id}`, { schema: numbers })
    expect((await settled(made)).streams).toEqual({ matching: 1, pending: 0, leftOut: 0 })
    await one.push(91)
    expect(await one.alert()).toMatchObject({ state: 'firing' })
  })

  test('shares the 50 rules of a stream with its own ones', async () => {
    const tags = newTags()
    const alerting = Array.from({ length: 49 }, (_, index) => ({ ...hot, id: `own-${index}` }))
    const full = await stream({ tags, processing: { alerting } })
    const first = await settled(await rule({ tags, rule: hot }))
    const second = await settled(await rule({ tags, rule: { silentFor: '1d' } }))

    expect(first.streams.leftOut).toBe(0)
    expect(second.leftOut).toEqual([{ streamId: full.id, reason: expect.stringContaining('50') }])
  })

  test('is only for streams of its owner', async () => {
    const tags = newTags()
    const bob = await newPerson(api)
    const body = { name: 'theirs', tags, rule: hot }
    const theirs = await bob.withToken<FleetRuleBody>('POST', '/alert-rules', body)
    const one = await stream({ tags })
    const made = await settled(await rule({ tags, rule: hot }))
    await one.push(90)

    expect(theirs.status).toBe(201)
    expect((await one.alerts()).map(({ ruleId }) => ruleId)).toEqual([made.ruleId])
    const path = `/alert-rules/${theirs.body.alertRuleId}`
    const { streams } = (await bob.withToken<FleetRuleBody>('GET', path)).body
    expect(streams.matching).toBe(0)
  })

  test('comes to hundreds of streams, but not to those of the service', async () => {
    const tags = newTags()
    const vaultId = await api.createVault()
    const streams = Array.from({ length: 250 }, (_, index) => ({ name: `boiler ${index}`, tags }))
    const definition = { vaultId, type: 'iot_sensor', schema: numbers }
    const made = await rule({ vaultId, tags, rule: { silentFor: '1s' } })
    const bulk = await api.withToken('POST', '/streams/bulk', { definition, streams })
    const service = { name: 'events', vaultId, type: 'service', tags }
    const told = await api.withToken('POST', '/streams', service)

    expect([bulk.status, told.status]).toEqual([201, 201])
    expect((await settled(made)).streams).toEqual({ matching: 250, pending: 0, leftOut: 0 })
    const firingInAll = async () => {
      const path = `/alerts?ruleId=${encodeURIComponent(made.ruleId)}&state=firing&limit=1000`
      return (await api.withToken<readonly AlertBody[]>('GET', path)).body.length
    }
    await expect.poll(firingInAll).toBe(250)
    await api.withToken('DELETE', `/alert-rules/${made.alertRuleId}`)
    await expect.poll(firingInAll).toBe(0)
  })

  test('goes on over a crash, even if the state has forgotten what was to be done', async () => {
    const tags = newTags()
    const known = await stream({ tags })
    const made = await rule({ tags, rule: hot })
    await settled(made)
    await known.push(90)
    const unknown = await stream({ tags })
    const later = await rule({ tags, rule: { ...hot, threshold: 70 } })
    await process.end('SIGKILL')
    forget(process.dataDir, 'alert_rule_changes')
    await start(process.dataDir)

    const again = [new RuledStream(api, known.id), new RuledStream(api, unknown.id)] as const
    for (const one of again) {
      const path = `/alerts?streamId=${one.id}&state=firing`
      await expect
        .poll(async () => {
          await one.push(75)
          return (await api.withToken<readonly AlertBody[]>('GET', path)).body.map(
            ({ ruleId }) => ruleId,
          )
        })
        .toContain(later.ruleId)
    }
    await settled(made)

    expect(await firing(again[0])).toEqual(expect.arrayContaining([later.ruleId]))
    expect(await firing(again[1])).toEqual([later.ruleId])
  })
})
