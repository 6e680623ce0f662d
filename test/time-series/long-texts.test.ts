import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { DuckDbStore } from '../../src/storage/time-series/duckdb/duckdb-store.ts'
import { marchUs, ship, storedReading } from '../support/stored-readings.ts'

/** A checkpoint takes what the last row group of a table holds: here more than 128 MB. */
test('texts of a megabyte are stored, however many of them stand in one table', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'streamvault-test-'))
  const store = await DuckDbStore.open(join(folder, 'time-series.duckdb'), systemClock)
  const text = 'x'.repeat(1_000_000)
  for (let from = 0; from < 160; from += 8) {
    const readings = Array.from({ length: 8 }, (_, index) =>
      storedReading({ timestampUs: marchUs + from + index, extra: { text } }),
    )
    await ship(store, readings)
  }

  expect(store.totals()).toMatchObject({ stored: 160, duplicates: 0 })
  await store.close()
  rmSync(folder, { recursive: true })
})
