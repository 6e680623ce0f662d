import { describe, expect, test } from 'vitest'
import { restAfter } from '../../src/ingest/pipeline/consumer.ts'

describe('the rest between two rounds', () => {
  const round = { isNextFull: false, isUrgent: false, wantsTurn: false }
  const pace = {
    entriesMax: 100,
    intervalMs: 40,
    urgentIntervalMs: 10,
    shareMax: 0.2,
    urgentShareMax: 0.25,
    urgentRestMsMax: 200,
  }

  test.each([
    ['fills up the interval', 5, false, 35],
    ['is four times a long round, of which it may work a fifth', 100, false, 400],
    ['is none when a full round waits', 5, true, 0],
  ])('%s', (_, workedMs, isNextFull, restMs) => {
    expect(restAfter({ ...round, workedMs, isNextFull }, pace)).toBe(restMs)
  })

  test.each([
    ['fills up no more than the interval when there is something else to do', 5, 35],
    ['is none then after a longer round', 100, 0],
  ])('%s', (_, workedMs, restMs) => {
    expect(restAfter({ ...round, workedMs, wantsTurn: true }, pace)).toBe(restMs)
  })

  test.each([
    ['is shorter where somebody waits for what follows', 2, true, 8],
    ['is three times a round there, of which it may work a quarter', 4, true, 12],
    ['is as long where nobody waits', 2, false, 38],
    ['has an end after a very long round', 1_000, true, 200],
    ['has none where nobody waits', 1_000, false, 4_000],
  ])('%s', (_, workedMs, isUrgent, restMs) => {
    expect(restAfter({ ...round, workedMs, isUrgent }, pace)).toBe(restMs)
  })

  test('has an end after a very long round of any kind, where the pace says so', () => {
    const { urgentRestMsMax: _, ...usual } = pace
    const limited = { ...usual, restMsMax: 300 }
    const long = { ...round, workedMs: 1_000 }
    expect(restAfter(long, limited)).toBe(300)
    expect(restAfter({ ...long, isUrgent: true }, limited)).toBe(300)
  })

  test('knows no share when the pace has none', () => {
    expect(
      restAfter({ ...round, workedMs: 50, isUrgent: true }, { entriesMax: 1, intervalMs: 40 }),
    ).toBe(0)
  })
})
