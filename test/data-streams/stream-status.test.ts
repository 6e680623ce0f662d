import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamId, UserId, VaultId } from '../../src/core/ids.ts'
import { parseRfc3339 } from '../../src/core/time.ts'
import type { StoredCounts } from '../../src/storage/time-series/time-series-store.ts'
import type { DecidedCounts } from '../../src/streams/data-streams/data-stream-store.ts'
import {
  countersOf,
  type StatusFacts,
  statusBody,
} from '../../src/streams/data-streams/stream-status.ts'

type Fate = 'stored' | 'duplicate' | 'quarantined' | 'discarded'

const count = (fates: readonly Fate[], fate: Fate) => fates.filter((one) => one === fate).length

/** What the decider has counted of entries with these fates. */
function decidedOf(fates: readonly Fate[]): DecidedCounts {
  return {
    received: fates.length,
    filtered: 0,
    accepted: count(fates, 'stored') + count(fates, 'duplicate'),
    quarantined: count(fates, 'quarantined'),
    discarded: count(fates, 'discarded'),
    lastReceivedAtUs: 0,
    day: 0,
    receivedOnDay: 0,
  }
}

/** What the store has counted of entries with these fates. */
function storedOf(fates: readonly Fate[]): StoredCounts {
  return {
    received: fates.length,
    stored: count(fates, 'stored'),
    duplicates: count(fates, 'duplicate'),
    deleted: 0,
    expired: 0,
    keptFromUs: 0,
    unchanged: 0,
    latencyUs: 0,
    lastStoredAtUs: 0,
  }
}

const nowUs = parseRfc3339('2026-03-01T12:00:00Z') as number
const today = Math.floor(nowUs / 86_400_000_000)

function facts(overrides: Partial<StatusFacts> = {}): StatusFacts {
  return {
    stream: {
      id: 'stream' as StreamId,
      ownerId: 'owner' as UserId,
      vaultId: 'vault' as VaultId,
      name: 'Boiler',
      type: 'iot_sensor',
      source: {},
      schema: {},
      processing: {},
      conversions: {},
      tags: {},
      isPaused: false,
      createdAtUs: nowUs - 90_500_000,
      version: 1,
    },
    decided: decidedOf([]),
    counts: storedOf([]),
    storedPerSecond: 0,
    problem: undefined,
    source: undefined,
    webhook: undefined,
    retention: { raw: null, aggregated: null },
    firing: { alerts: 0, severity: null },
    nowUs,
    ...overrides,
  }
}

describe('countersOf', () => {
  const fates = fc.array(fc.constantFrom<Fate>('stored', 'duplicate', 'quarantined', 'discarded'))

  test('adds up wherever in the journal decider and shipper stand', () => {
    fc.assert(
      fc.property(fates, fc.nat(), fc.nat(), (journal, one, other) => {
        const decided = journal.slice(0, one % (journal.length + 1))
        const shipped = journal.slice(0, other % (journal.length + 1))
        const { received, ...terms } = countersOf(decidedOf(decided), storedOf(shipped))
        const sum = Object.values(terms).reduce((total, term) => total + term, 0)

        expect(sum).toBe(received)
        expect(Math.min(...Object.values(terms))).toBeGreaterThanOrEqual(0)
        expect(received).toBe(Math.max(decided.length, shipped.length))
      }),
    )
  })

  test('is exact and has nothing pending at rest', () => {
    fc.assert(
      fc.property(fates, (journal) => {
        expect(countersOf(decidedOf(journal), storedOf(journal))).toEqual({
          received: journal.length,
          stored: count(journal, 'stored'),
          duplicates: count(journal, 'duplicate'),
          unchanged: 0,
          filtered: 0,
          quarantined: count(journal, 'quarantined'),
          discarded: count(journal, 'discarded'),
          pending: 0,
        })
      }),
    )
  })

  test('has pending what only the consumer that is behind would settle', () => {
    const journal: Fate[] = ['stored', 'quarantined', 'stored', 'discarded', 'duplicate']

    expect(countersOf(decidedOf(journal), storedOf([])).pending).toBe(3)
    expect(countersOf(decidedOf([]), storedOf(journal)).pending).toBe(2)
  })
})

describe('statusBody', () => {
  test('of a stream that has received nothing has no times and no averages', () => {
    expect(statusBody(facts())).toMatchObject({
      streamId: 'stream',
      status: 'created',
      lastDataReceived: null,
      dataPointsToday: 0,
      errorCount: 0,
      health: { status: 'healthy', uptime: 90, avgLatency: 0 },
      processing: { queueLength: 0, processingRate: 0, lastProcessed: null },
    })
  })

  test('is active after the first reading, be it refused', () => {
    expect(statusBody(facts({ decided: decidedOf(['quarantined']) }))).toMatchObject({
      status: 'active',
      errorCount: 1,
      counters: { received: 1, quarantined: 1, pending: 0 },
    })
  })

  test('has an uptime of no seconds while the wall clock shows a time before the stream was created', () => {
    const yesterdayUs = nowUs - 86_400_000_000
    expect(statusBody(facts({ nowUs: yesterdayUs }))).toMatchObject({ health: { uptime: 0 } })
  })

  test('counts the readings of today only', () => {
    const decided = { ...decidedOf(['stored']), day: today, receivedOnDay: 7 }
    const tomorrowUs = nowUs + 86_400_000_000

    expect(statusBody(facts({ decided }))).toMatchObject({ dataPointsToday: 7 })
    expect(statusBody(facts({ decided, nowUs: tomorrowUs }))).toMatchObject({ dataPointsToday: 0 })
  })

  test('has times with six decimals, and latency in milliseconds per stored reading', () => {
    const decided = { ...decidedOf(['stored', 'stored']), lastReceivedAtUs: nowUs - 1 }
    const counts = {
      ...storedOf(['stored', 'stored']),
      latencyUs: 5_000,
      lastStoredAtUs: nowUs,
    }

    expect(statusBody(facts({ decided, counts, storedPerSecond: 1.23456 }))).toMatchObject({
      lastDataReceived: '2026-03-01T11:59:59.999999Z',
      health: { avgLatency: 2.5 },
      processing: { lastProcessed: '2026-03-01T12:00:00.000000Z', processingRate: 1.235 },
    })
  })

  test('is degraded, saying why, while there is a problem', () => {
    expect(statusBody(facts({ problem: 'the store is busy' }))).toMatchObject({
      health: { status: 'degraded', problem: 'the store is busy' },
    })
  })
})
