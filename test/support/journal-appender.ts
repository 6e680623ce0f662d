/**
 * A process that appends to a journal until it is killed, for tests of what a kill leaves behind.
 *
 *     node journal-appender.ts PATH SEED
 *
 * Prints one line for each acknowledgement, `ack OFFSET COUNT SIZE`, and one before each trim,
 * `trim BELOW`. A batch holds its size and pseudo-random bytes that follow from seed and size, so
 * that a reader can tell a whole batch from a torn one.
 */
import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { ThreadedJournal } from '../../src/storage/journal/threaded-journal.ts'

/** Appends that are under way at once: as many as the service has. */
const inFlightMax = 2

/** Bytes of a batch: from a lonely reading to more than a page of the file. */
const sizes = [60, 300, 2_000, 9_000, 70_000]

/** The content of a batch of so many bytes. */
export function batchOf(seed: string, size: number): Uint8Array<ArrayBuffer> {
  const digest = createHash('shake256', { outputLength: size }).update(`${seed} ${size}`).digest()
  return new Uint8Array(digest)
}

async function run(path: string, seed: string): Promise<never> {
  const journal = await ThreadedJournal.open({ path, bytesMax: 1024 ** 3, followers: [] })
  let appends = 0
  const appendOn = async (): Promise<never> => {
    for (;;) {
      const count = (appends % 7) + 1
      const size = (sizes[appends % sizes.length] ?? 0) + appends
      appends++
      const offset = await journal.append(batchOf(seed, size), count)
      writeSync(1, `ack ${offset} ${count} ${size}\n`)
      if (appends % 50 !== 0) continue
      writeSync(1, `trim ${offset - 60}\n`)
      await journal.trim(offset - 60)
    }
  }
  return await Promise.race(Array.from({ length: inFlightMax }, appendOn))
}

const [, script, path, seed] = process.argv
if (script === import.meta.filename && path !== undefined && seed !== undefined) {
  await run(path, seed)
}
