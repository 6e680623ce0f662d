import { encode } from 'cborg'
import { expect, test } from 'vitest'
import { everything } from '../../src/ingest/quarantine/quarantine-store.ts'
import { LocalPipeline } from '../support/local-pipeline.ts'

test('equal readings without times, of batches that nobody could read, are all stored', async () => {
  const fields = { v: { type: 'number' } } as const
  await using real = await LocalPipeline.open({ fields })
  const batch = encode(Array.from({ length: 100 }, () => ({ v: 1 })))
  await Promise.all(Array.from({ length: 20 }, () => real.push(batch)))
  real.change({ fields, format: 'cbor' })

  await real.parts.reviews.redrive(real.streamId, everything)
  await real.ship()

  expect(await real.counters()).toMatchObject({ received: 2_000, stored: 2_000, duplicates: 0 })
})

test('equal readings without times, of messages that another mapping has refused, are all stored', async () => {
  const fields = { v: { type: 'number', required: true } } as const
  await using real = await LocalPipeline.open({ fields })
  const message = Buffer.from(
    JSON.stringify({ list: Array.from({ length: 100 }, () => ({ v: 1 })) }),
  )
  await Promise.all(Array.from({ length: 20 }, () => real.push(message)))
  real.change({ fields, items: [{ path: 'list', as: 'list' }] })

  await real.parts.reviews.redrive(real.streamId, everything)
  await real.ship()

  expect(await real.counters()).toMatchObject({ received: 2_000, stored: 2_000, duplicates: 0 })
})
