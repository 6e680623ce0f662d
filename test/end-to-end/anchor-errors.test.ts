import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textsIn, wrongAnchors } from '../support/anchor-facts.ts'
import {
  type Anchored,
  type AnchoredPath,
  assetOf,
  atStatus,
  completedStream,
  makers,
  pathOf,
  statusesOf,
} from '../support/anchored.ts'
import { FaultyService } from '../support/faulty-service.ts'

const prefixes = {
  vaults: 'vault',
  streams: 'stream',
  attachments: 'data_attachment',
  signatures: 'signature',
  assets: 'asset',
} as const

/** The words that the catalogue has for two of the statuses. */
const wordsOf = (path: AnchoredPath) => ({
  error: path === 'attachments' ? 'failed' : 'error',
  completed: path === 'assets' ? 'deployed' : 'completed',
})

let service: FaultyService

beforeAll(async () => {
  service = await FaultyService.start({
    STREAMVAULT_ANCHORING: 'on',
    STREAMVAULT_ANCHOR_PATIENCE: '2s',
  })
})

afterAll(async () => await service[Symbol.asyncDispose]())

/** What was told of a resource, in order. */
const toldOf = (id: string) =>
  textsIn(service.dataDir, `type AS text FROM events WHERE resource_id = '${id}' ORDER BY at`)

const retried = async (path: string) =>
  (await service.api.withKey<Anchored>('POST', `${path}/retry`)).status

/** Tries again as often as it takes. */
async function untilCompleted(path: string): Promise<void> {
  await service.until('it is completed', async () => {
    const { body } = await service.api.withKey<Anchored>('GET', path)
    if (body.status === 'ERROR') await retried(path)
    return body.status === 'COMPLETED'
  })
}

/** Has the ledger go down, and makes something: an asset is of a stream that was there before. */
async function madeWhileDown(path: AnchoredPath): Promise<string> {
  const stream = path === 'assets' ? await completedStream(service.api) : ''
  service.faults.begin('eio', 'ledger/chain')
  if (path === 'assets') return await assetOf(service.api, stream)
  return await makers[path](service.api)
}

describe.each(Object.keys(makers) as AnchoredPath[])(
  'what is made of %s while the ledger is down',
  (path) => {
    test('is an error once its time is over, and completed when it is tried again', async () => {
      const id = await madeWhileDown(path)
      const at = pathOf(path, id)
      const failed = await atStatus(service.api, at, 'ERROR')
      expect(failed.failure?.error).toBe('ledger_timeout')
      const prefix = prefixes[path]
      const words = wordsOf(path)
      expect(toldOf(failed.id)).toEqual([`${prefix}.created`, `${prefix}.${words.error}`])
      const { body, status } = await service.api.request<{ degraded: object }>(
        'GET',
        '/health/ready',
      )
      expect(status).toBe(200)
      expect(body.degraded).toHaveProperty('ledger')

      const [content = at] = at.split('/signatures')
      service.faults.end()
      expect(await retried(at)).toBe(202)
      // A signature is of something that waits as well.
      if (content !== at) await untilCompleted(content)
      const done = await atStatus(service.api, at, 'COMPLETED')
      expect(done.failure).toBeNull()
      expect(statusesOf(done).slice(-3)).toEqual(
        statusesOf(failed).includes('LEDGER_SUBMITTED')
          ? ['LEDGER_SUBMITTED', 'ERROR', 'COMPLETED']
          : ['ERROR', 'LEDGER_SUBMITTED', 'COMPLETED'],
      )
      expect(done.progress.map(({ step }) => step)).toEqual(
        done.progress.map((_, index) => index + 1),
      )
      expect(toldOf(failed.id).at(-1)).toBe(`${prefix}.${words.completed}`)
      expect(await retried(at)).toBe(409)
    })
  },
)

test('what is deleted while the ledger is down is told of no more, and what was signed stays provable', async () => {
  service.faults.begin('hold-sync', 'ledger/chain')
  const id = await makers.vaults(service.api)
  const made = await atStatus(service.api, `/vaults/${id}`, 'LEDGER_SUBMITTED')
  expect((await service.api.withKey('DELETE', `/vaults/${id}`)).status).toBe(204)
  expect((await service.api.withKey('DELETE', `/vaults/${id}`)).status).toBe(404)
  service.faults.end()
  // What was held goes on with a service that is started anew.
  await service.kill()
  await service.restart()
  const state = () =>
    textsIn(service.dataDir, `state AS text FROM anchors WHERE resource_id = '${id}'`)
  await service.until('it is on the ledger', async () => state()[0] === 'completed')
  expect(toldOf(id)).toEqual(['vault.created', 'vault.deleted'])
  const { status, body } = await service.api.request<{ final: boolean }>(
    'GET',
    `/verify/${String(made['cid'])}`,
  )
  expect([status, body.final]).toEqual([200, true])
  expect(JSON.stringify(body)).not.toContain(id)
})

test('nothing is left over', () => {
  const wrong = wrongAnchors(service.dataDir)
  // An error is a step of those that had one.
  expect(wrong.filter((one) => !one.includes('ERROR'))).toEqual([])
})
