import { describe, expect, test } from 'vitest'
import { wrongAnchors } from '../support/anchor-facts.ts'
import { type AnchoredPath, atStatus, makers, pathOf, statusesOf } from '../support/anchored.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService({ STREAMVAULT_ANCHORING: 'on' })

const first: Readonly<Record<AnchoredPath, readonly string[]>> = {
  vaults: ['SERVICE_RECEIVED'],
  streams: ['SERVICE_RECEIVED'],
  attachments: ['SERVICE_RECEIVED', 'UPLOAD_PENDING'],
  signatures: ['SERVICE_RECEIVED'],
  assets: ['SERVICE_RECEIVED'],
}

describe.each(Object.keys(makers) as AnchoredPath[])('what is made of %s', (path) => {
  test('gets onto the ledger', async () => {
    const id = await makers[path](service.api)
    const done = await atStatus(service.api, pathOf(path, id), 'COMPLETED')
    expect(statusesOf(done)).toEqual([
      ...first[path],
      'METADATA_STORED',
      'LEDGER_SUBMITTED',
      'COMPLETED',
    ])
    expect(done.progress.map(({ step }) => step)).toEqual(done.progress.map((_, at) => at + 1))
    expect(done.tx_hash).toMatch(/^[0-9a-f]{64}$/)
    expect(done.failure).toBeNull()
  })
})

test('each is on the ledger once, and told of once', () => {
  expect(wrongAnchors(service.process.dataDir)).toEqual([])
})
