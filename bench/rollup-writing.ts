import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../src/core/clock.ts'
import { QuestDbStore } from '../src/storage/time-series/questdb/questdb-store.ts'
import { QuestDb } from '../test/support/questdb.ts'
import { ship, storedReading } from '../test/support/stored-readings.ts'
import { TemporaryFolder } from '../test/support/temporary-folder.ts'
import { medianOf } from './fleet.ts'
import type { Figure } from './report.ts'
import { everyUs, fromUs } from './rollup-speed.ts'
import { thousands } from './writer-rows.ts'

const readingsPerShipment = 10_000

const shipmentsPerRound = 20

const readingsPerRound = readingsPerShipment * shipmentsPerRound

/** What rows cost whoever stores the readings of one stream, all of them new, or some of them late. */
export async function rollupWriting(rounds: number): Promise<readonly Figure[]> {
  await using questDb = await QuestDb.start([], false)
  return [await measured(questDb, rounds, 0), await measured(questDb, rounds, 20)]
}

/**
 * Rows a second that are shipped to a stream that is rolled up, and to one that is not, in turns; and how long it takes
 * to roll up what has come, without the rest that is left to it while a service runs.
 *
 * @param lateEvery of so many readings one is late, by up to all that there are; 0 for none
 */
async function measured(questDb: QuestDb, rounds: number, lateEvery: number): Promise<Figure> {
  using folder = new TemporaryFolder()
  const open = (name: string, readingsMin: number) =>
    new QuestDbStore({
      server: questDb.newServer(),
      path: folder.file(name),
      clock: systemClock,
      logger: { warn: () => undefined, error: console.error },
      heldBytesMax: 1024 ** 3,
      rollups: { readingsMin, perRowMin: 30, quietMs: 0 },
    })
  const plain = open('plain.db', Number.POSITIVE_INFINITY)
  const rolledUp = open('rolled-up.db', readingsPerShipment)
  const rates: string[] = []
  const ratios: number[] = []
  const rollingS: number[] = []
  // What is to be rolled up is found after the first round, which does not count.
  for (let round = 0; round <= rounds; round++) {
    const rate = async (store: QuestDbStore) => {
      const shipped = await shipRound(store, round, lateEvery)
      await untilApplied(questDb)
      return shipped
    }
    const first = round % 2 === 0 ? undefined : await rate(rolledUp)
    const without = await rate(plain)
    const marked = first ?? (await rate(rolledUp))
    const beganMs = performance.now()
    while (await rolledUp.rollUp());
    if (round === 0) continue
    rollingS.push((performance.now() - beganMs) / 1_000)
    ratios.push(marked / without)
    rates.push(`${thousands(marked)} and ${thousands(without)}`)
  }
  const { rollups } = rolledUp.totals()
  await plain.close()
  await rolledUp.close()
  const late = lateEvery === 0 ? 'none' : `one in ${lateEvery}`
  return {
    name: `readings of one stream, ${late} of them late, sent to QuestDB where they are rolled up, and where not`,
    measured: `${rates.join(', ')} rows/s; ratio ${medianOf(ratios).toFixed(2)}; ${thousands(readingsPerRound)} are rolled up in ${medianOf(rollingS).toFixed(2)} s`,
    target: 'ratio 0.85',
    isMet: medianOf(ratios) >= 0.85 && rollups?.streams === 1,
  }
}

/** Ships the readings of a round, and returns how many a second. */
async function shipRound(store: QuestDbStore, round: number, lateEvery: number): Promise<number> {
  let spentMs = 0
  for (let shipment = 0; shipment < shipmentsPerRound; shipment++) {
    const first = round * readingsPerRound + shipment * readingsPerShipment
    const portion = Array.from({ length: readingsPerShipment }, (_, index) => {
      const at = first + index
      const isLate = lateEvery > 0 && index % lateEvery === 0
      return storedReading({
        timestampUs: isLate ? lateUs(at) : fromUs + at * everyUs,
        values: { temperature: (at % 3_000) / 100 },
      })
    })
    const beganMs = performance.now()
    await ship(store, portion)
    spentMs += performance.now() - beganMs
  }
  return readingsPerRound / (spentMs / 1_000)
}

/** What QuestDB has taken it applies later, which is no business of who comes next. */
async function untilApplied(questDb: QuestDb): Promise<void> {
  const connection = questDb.connection()
  const behind = 'SELECT count() FROM wal_tables() WHERE "writerTxn" < "sequencerTxn"'
  while (Number((await connection.run(behind)).rows[0]?.[0]) > 0) await sleep(100)
  connection.close()
}

/** Somewhere among those before it: a prime spreads them, and a microsecond tells it from what came in time. */
function lateUs(at: number): number {
  return fromUs + ((at * 7_919) % (at + 1 - (at % readingsPerShipment) || 1)) * everyUs + 1
}
