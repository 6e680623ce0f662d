import { expect, test } from 'vitest'
import { RetryLater } from '../../../src/contracts/fetch-connector.ts'
import type { FetchedPage, Poll, PollConnector } from '../../../src/contracts/poll-connector.ts'
import { scheduled } from '../../../src/streams/sources/schedules/scheduled-source.ts'
import { FetchingSource } from '../../support/fetching-source.ts'
import { nothing } from '../../support/scheduled-run.ts'

const startedAtMs = Date.UTC(2026, 0, 1)

function connectorOf(poll: (poll: Poll) => AsyncIterable<FetchedPage>): PollConnector {
  return {
    takes: () => true,
    destinationOf: () => undefined,
    open: () => ({ identity: 'numbers', poll }),
  }
}

function sourceOf(connector: PollConnector, schedule: string) {
  return new FetchingSource({ connector: scheduled(connector), source: { schedule }, ports: [] })
}

/** Two numbers a round, each a page of its own. */
async function* numbers({ position }: Poll): AsyncIterable<FetchedPage> {
  const from = Number(position?.['next'] ?? 0)
  for (const number of [from, from + 1]) {
    const timestamp = new Date(startedAtMs + number).toISOString()
    const payload = Buffer.from(JSON.stringify({ number, timestamp }))
    yield { messages: [{ payload, source: 'numbers' }], position: { next: number + 1 } }
  }
}

test('a source that is asked each second and killed again and again loses and doubles nothing', async () => {
  await using source = sourceOf(connectorOf(numbers), '* * * * * *')
  for (const count of [3, 5, 7]) {
    source.start()
    await expect.poll(() => source.entries().numbers.length).toBeGreaterThanOrEqual(count)
    await source.kill()
  }
  const { numbers: kept } = source.entries()
  expect(kept).toEqual(kept.map((_, index) => index))
})

test('a source is not asked before the other side allows it, unless somebody wants that', async () => {
  const askedAtMs: number[] = []
  const connector = connectorOf(async function* () {
    askedAtMs.push(performance.now())
    if (askedAtMs.length < 3) throw new RetryLater('busy', askedAtMs.length === 1 ? 2_500 : 600_000)
    yield nothing
  })
  await using source = sourceOf(connector, '* * * * * *')
  source.start()
  await expect.poll(() => askedAtMs.length).toBe(2)
  expect((askedAtMs[1] ?? 0) - (askedAtMs[0] ?? 0)).toBeGreaterThanOrEqual(2_490)

  await expect
    .poll(() => source.runner.status)
    .toMatchObject({ state: 'failing', lastError: 'busy' })
  source.runner.hurry()
  await expect.poll(() => source.runner.status.rounds?.count).toBeGreaterThanOrEqual(1)
  // The first pause alone was longer than two of its times.
  expect(source.runner.status.rounds?.missed).toBeGreaterThanOrEqual(2)
})

test('a source that waits says until when, and is asked at once by whoever wants that', async () => {
  let rounds = 0
  const connector = connectorOf(async function* () {
    rounds++
    yield nothing
  })
  await using source = sourceOf(connector, '0 0 1 1 *')
  source.start()
  await expect.poll(() => source.runner.status.state).toBe('waiting')
  const { nextRoundAtUs = 0 } = source.runner.status
  expect(new Date(nextRoundAtUs / 1_000).toISOString()).toMatch(/-01-01T00:00:00.000Z$/)
  source.runner.hurry()
  await expect.poll(() => rounds).toBe(1)
  await expect.poll(() => source.runner.status).toMatchObject({ state: 'waiting', nextRoundAtUs })
})
