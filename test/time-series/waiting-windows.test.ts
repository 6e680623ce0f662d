import { expect, test } from 'vitest'
import { Materialiser } from '../../src/reading/windows/materialiser.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { hourUs, marchUs } from '../support/stored-readings.ts'
import { keptResults, maxOfHours, shipHours } from '../support/windowed-store.ts'

test('a window waits until all that came in by its end is stored, and two seconds more', async () => {
  await using opened = await openDuckDbStore()
  const { store } = opened
  await shipHours(store, 'boiler', { hours: [0, 1, 2], definition: maxOfHours(1) })
  let storedUntilUs = marchUs
  const materialiser = new Materialiser({
    store,
    clock: { nowUs: () => marchUs + 9 * hourUs },
    progress: { storedUntilUs: () => storedUntilUs, isBehind: true },
    onFailure: (error) => expect.unreachable(String(error)),
    onTooSlow: () => expect.unreachable(),
  })
  const computedAt = async (untilUs: number) => {
    storedUntilUs = untilUs
    await materialiser.step()
    return (await keptResults(store, ['boiler'])).length
  }

  expect(await computedAt(marchUs + hourUs + 1_999_999)).toBe(0)
  expect(await computedAt(marchUs + hourUs + 2_000_000)).toBe(1)
  expect(await computedAt(marchUs + 3 * hourUs)).toBe(2)
  expect(await computedAt(marchUs + 9 * hourUs)).toBe(3)
})
