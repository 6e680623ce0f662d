import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Unapplied } from '../../../src/storage/time-series/questdb/unapplied.ts'
import { storedReading } from '../../support/stored-readings.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const sent = { timestampUs: 1_000_000, digest: 77n }

/** Notes a reading that nobody else holds. */
function noted(unapplied: Unapplied): WeakRef<object> {
  const reading = storedReading(sent)
  unapplied.add([reading])
  return new WeakRef(reading)
}

test('what is on its way through a server is known, without the stretch of the journal that it came in', async () => {
  const unapplied = new Unapplied('')
  const reading = noted(unapplied)
  // A reference is kept as long as the turn in which it was made.
  await turn()
  collectGarbage()

  expect(reading.deref()).toBeUndefined()
  expect(unapplied.has(storedReading(sent))).toBe(true)
  expect(unapplied.has(storedReading({ ...sent, timestampUs: 1 }))).toBe(false)
})
