import { randomInt } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textsIn, wrongAnchors } from '../../support/anchor-facts.ts'
import { type AnchoredPath, independentPaths, makers } from '../../support/anchored.ts'
import { FaultyService } from '../../support/faulty-service.ts'

/** Where the steps of an anchor are made durable, by a part of the paths of their files. */
const places = ['state.db', 'ledger/chain', 'ledger/index'] as const

/** Steps of one place that are tried. */
const stepsMax = 12

/** Kills under load. */
const kills = 200

let service: FaultyService

beforeAll(async () => {
  service = await FaultyService.start({ STREAMVAULT_ANCHORING: 'on' })
})

afterAll(async () => await service[Symbol.asyncDispose]())

const paths = Object.keys(makers) as AnchoredPath[]
const cases = paths.flatMap((path) => places.map((place) => [path, place] as const))

describe.each(cases)('an anchor of %s that is killed where it syncs %s', (path, place) => {
  test('gets onto the ledger once, and is told of once', async () => {
    let met = 0
    for (let step = 0; step < stepsMax; step++) {
      if (!(await killedAt(path, place, step))) break
      met++
    }
    // The index is written without a sync of its own at each block.
    if (place !== 'ledger/index') expect(met).toBeGreaterThan(0)
  })
})

/** Resolves with whether the anchor came to that step. */
async function killedAt(path: AnchoredPath, place: string, step: number): Promise<boolean> {
  let isMade = false
  service.faults.begin('hold-sync', place, step)
  const making = makers[path](service.api)
    .catch(() => undefined)
    .finally(() => (isMade = true))
  await service.until('the step is met, or all is done', async () => {
    return service.faults.isMet || (isMade && isAtRest())
  })
  const { isMet } = service.faults
  await service.kill()
  await making
  await service.restart()
  await service.until('all is anchored', async () => isAtRest())
  expect(wrongAnchors(service.dataDir)).toEqual([])
  return isMet
}

/** Nothing waits for the ledger, and no file that has come waits to be looked at. */
function isAtRest(): boolean {
  const open = ['vaults', 'asset_streams', 'attachments', 'signatures', 'assets'].map(
    (table) => `id AS text FROM ${table} WHERE status NOT IN ('COMPLETED', 'UPLOAD_PENDING')`,
  )
  const queries = ["id AS text FROM anchors WHERE state <> 'completed'", ...open]
  const staged = readdirSync(join(service.dataDir, 'files', 'staged'))
  return staged.length === 0 && queries.every((one) => textsIn(service.dataDir, one).length === 0)
}

test('a vault that is killed on its way is the same for who asks again under its key, and completes', async () => {
  const wanted = { name: 'boiler', hint: '', required_streams: [] }
  const template = await service.api.withToken<{ id: string }>('POST', '/templates', wanted)
  const body = { template_id: template.body.id, name: 'boiler 7', json_payload: '{"serial": 7}' }
  const vaults = () => textsIn(service.dataDir, 'id AS text FROM vaults')
  let met = 0
  for (let step = 0; step < stepsMax; step++) {
    const headers = { 'idempotency-key': `vault at ${step}` }
    const post = async () =>
      await service.api.withToken<{ id: string }>('POST', '/vaults', body, headers)
    const before = vaults()
    service.faults.begin('hold-sync', 'state.db', step)
    const asking = post().catch(() => undefined)
    await service.until('the step is met, or all is done', async () => {
      return service.faults.isMet || (vaults().length > before.length && isAtRest())
    })
    const { isMet } = service.faults
    await service.kill()
    const first = await asking
    const made = vaults().filter((id) => !before.includes(id))
    await service.restart()
    const again = await post()
    expect(again.status).toBe(201)
    // What was in the file, whether or not anybody was told of it, is the one.
    if (made.length > 0) expect(made).toEqual([again.body.id])
    if (first) expect(again.body.id).toBe(first.body.id)
    await service.until('all is anchored', async () => isAtRest())
    expect(vaults().filter((id) => !before.includes(id))).toEqual([again.body.id])
    expect(wrongAnchors(service.dataDir)).toEqual([])
    if (!isMet) break
    met++
  }
  expect(met).toBeGreaterThan(2)
})

test(`${kills} kills under load leave one transaction for each intent`, async () => {
  for (let kill = 0; kill < kills; kill++) {
    const loads = paths.flatMap((path) => [makers[path], makers[path]])
    const making = loads.map((make) => make(service.api).catch(() => undefined))
    await sleep(randomInt(400))
    await service.kill()
    await Promise.all(making)
    await service.restart()
  }
  await service.until('all is anchored', async () => isAtRest())
  expect(wrongAnchors(service.dataDir)).toEqual([])
})

describe.each(['eio', 'enospc'] as const)('a disk of the ledger with %s', (fault) => {
  test('holds anchors up, and nothing is lost or done twice', async () => {
    service.faults.begin(fault, 'ledger/chain')
    for (const path of independentPaths) await makers[path](service.api)
    await service.until('the fault is met', async () => service.faults.isMet)
    const ready = await service.readiness()
    expect(ready.status).toBe(200)
    service.faults.end()
    await service.until('all is anchored', async () => isAtRest())
    expect(wrongAnchors(service.dataDir)).toEqual([])
  })
})

describe.each(paths)('a disk of the state that is full while %s are anchored', (path) => {
  test('loses nothing, and has nothing done twice', async () => {
    let met = 0
    for (let step = 0; step < stepsMax; step++) {
      service.faults.begin('enospc', 'state.db', step)
      let isMade = false
      const making = makers[path](service.api)
        .catch(() => undefined)
        .finally(() => (isMade = true))
      await service.until('the disk is full, or all is done', async () => {
        return service.faults.isMet || (isMade && isAtRest())
      })
      if (service.faults.isMet) met++
      await making
      service.faults.end()
      await service.until('all is anchored', async () => isAtRest())
      expect(wrongAnchors(service.dataDir)).toEqual([])
    }
    expect(met).toBeGreaterThan(0)
  })
})
