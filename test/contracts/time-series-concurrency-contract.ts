import { expect, test } from 'vitest'
import { allPoints, marchUs, ship, shipmentOf, storedReading } from '../support/stored-readings.ts'
import type { OpenNewStore } from './open-store.ts'

/** What every store promises to those who read while something goes wrong. */
export function timeSeriesConcurrencyContract(open: OpenNewStore): void {
  test('a shipment that fails takes nothing away while somebody reads', async () => {
    await using opened = await open()
    const { store } = opened
    const readings = Array.from({ length: 5_000 }, (_, index) =>
      storedReading({ timestampUs: marchUs + index }),
    )
    await ship(store, readings)

    for (let round = 0; round < 5; round++) {
      const reading = Promise.allSettled([1, 2, 3].map(() => allPoints(store)))
      const late = storedReading({ timestampUs: marchUs - 1 })
      const broken = { ...shipmentOf([late], store.position()), received: new Map() }
      await expect(store.write(broken)).rejects.toThrow()
      await ship(store, [storedReading({ streamId: 'pump', timestampUs: marchUs + round })])
      // Readers are answered in full meanwhile, or not at all.
      for (const answer of await reading) {
        if (answer.status === 'fulfilled') expect(answer.value).toHaveLength(5_000)
      }
    }

    await opened.reopen()
    expect(await allPoints(opened.store)).toHaveLength(5_000)
    expect(await allPoints(opened.store, { streamId: 'pump' })).toHaveLength(5)
    expect(opened.store.totals().stored).toBe(5_005)
  })

  test('closing waits for who reads, or refuses', async () => {
    await using opened = await open()
    const readings = Array.from({ length: 5_000 }, (_, index) =>
      storedReading({ timestampUs: marchUs + index }),
    )
    await ship(opened.store, readings)

    const reading = Promise.allSettled([1, 2, 3].map(() => allPoints(opened.store)))
    await opened.reopen()

    for (const answer of await reading) {
      if (answer.status === 'fulfilled') expect(answer.value).toHaveLength(5_000)
    }
    expect(await allPoints(opened.store)).toHaveLength(5_000)
  })
}
