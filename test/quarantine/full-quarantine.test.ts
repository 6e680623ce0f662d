import { describe, expect, test } from 'vitest'
import { formatUs } from '../../src/core/time.ts'
import { everything } from '../../src/ingest/quarantine/quarantine-store.ts'
import { LocalPipeline, type LocalVersion } from '../support/local-pipeline.ts'

const numbers: LocalVersion = { fields: { v: { type: 'number' } } }
const strings: LocalVersion = { fields: { v: { type: 'string' } } }

/** A batch of readings that fit `strings` only, each with a time of its own. */
function hot(count: number, from = 0): Buffer {
  const readings = Array.from({ length: count }, (_, index) => ({
    timestamp: formatUs(1_000_000 * (from + index)),
    v: 'hot',
  }))
  return Buffer.from(JSON.stringify(readings))
}

async function opened(version = numbers): Promise<LocalPipeline> {
  return await LocalPipeline.open(version)
}

describe('a full quarantine', () => {
  test('has room again after a deletion, and gives notice again when that is used up', async () => {
    await using real = await opened()
    await real.push(hot(10_000))
    await real.push(hot(2, 20_000))
    await real.decide()
    expect(await real.counters()).toMatchObject({ quarantined: 10_000, discarded: 2 })
    expect(real.notices).toEqual([real.streamId])

    const [first] = await real.held()
    const ids = first ? [first.id] : []
    expect(await real.parts.reviews.remove(real.streamId, { ...everything, ids })).toBe(1)
    await real.push(hot(1, 30_000))
    await real.decide()
    expect(await real.counters()).toMatchObject({ quarantined: 10_000, discarded: 3 })
    expect(real.notices).toHaveLength(1)

    await real.push(hot(2, 40_000))
    await real.decide()
    expect(await real.counters()).toMatchObject({ quarantined: 10_000, discarded: 5 })
    expect(real.notices).toEqual([real.streamId, real.streamId])
  })

  test('has room again after a redrive', async () => {
    await using real = await opened()
    await real.push(hot(10_000))
    await real.push(hot(1))
    real.change(strings)
    await real.parts.reviews.redrive(real.streamId, everything)
    expect(await real.quarantineBytes()).toBe(0)
    real.change(numbers)
    await real.push(hot(10_000))
    await real.decide()

    expect(await real.counters()).toMatchObject({ quarantined: 10_000, discarded: 1 })
    expect(real.notices).toHaveLength(1)
  })
})
