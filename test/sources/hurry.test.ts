import { expect, test } from 'vitest'
import type { FetchConnector } from '../../src/contracts/fetch-connector.ts'
import { FetchingSource } from '../support/fetching-source.ts'

test('what somebody wants at once is tried once, and then as if nobody had', async () => {
  const triedAtMs: number[] = []
  const connector: FetchConnector = {
    takes: () => true,
    destinationOf: () => undefined,
    open: () => ({
      identity: 'nobody',
      async run() {
        triedAtMs.push(performance.now())
        throw new Error('down')
      },
    }),
  }
  await using source = new FetchingSource({ connector, source: {}, ports: [] })
  source.start()
  await expect.poll(() => source.runner.status.state).toBe('failing')
  source.runner.hurry()
  await expect.poll(() => triedAtMs.length).toBe(3)
  const [, second = 0, third = 0] = triedAtMs
  // The pause of a second failure is half a second at least.
  expect(third - second).toBeGreaterThanOrEqual(490)
})
