import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SqliteJournalFile } from '../../src/storage/journal/sqlite-journal.ts'
import { TrimSchedule } from '../../src/storage/journal/trim-schedule.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }))
afterEach(() => vi.useRealTimers())

const bytesMax = 1_000

/** A journal with ten batches of one entry, whose consumers are at the given position. */
function trimmedJournal(folder: TemporaryFolder, position: { at: number }) {
  const file = new SqliteJournalFile(folder.file('journal.db'), bytesMax)
  const append = (bytes: number) => file.append(Buffer.alloc(bytes), 1)
  for (let entry = 0; entry < 10; entry++) append(10)
  const journal = {
    append: async () => 0,
    trim: async (below: number) => void file.trim(below),
    status: async () => file.status(),
  }
  const schedule = new TrimSchedule(journal, async () => position.at)
  /** Bytes that are left after the next turn. */
  const bytesLeft = async () => {
    await vi.advanceTimersByTimeAsync(1_000)
    return file.status().bytes
  }
  return {
    schedule,
    append,
    bytesLeft,
    end: async () => {
      await schedule.stop()
      file.close()
    },
  }
}

test('what is held is not trimmed, and is once it was released', async () => {
  using folder = new TemporaryFolder()
  const position = { at: 4 }
  const { schedule, bytesLeft, end } = trimmedJournal(folder, position)
  const hold = await schedule.hold()
  expect(hold.from).toBe(4)
  position.at = 10
  expect(await bytesLeft()).toBe(60)
  hold.release()
  expect(await bytesLeft()).toBe(10)
  await end()
})

test('a journal that is half full is trimmed all the same, and the holder is told', async () => {
  using folder = new TemporaryFolder()
  const position = { at: 4 }
  const { schedule, append, bytesLeft, end } = trimmedJournal(folder, position)
  const hold = await schedule.hold()
  append(450)
  position.at = 11
  expect(await bytesLeft()).toBe(450)
  expect(hold.lostBecause).toContain('room')
  await end()
})

test('a hold that nobody renews is lost', async () => {
  using folder = new TemporaryFolder()
  const position = { at: 4 }
  const { schedule, bytesLeft, end } = trimmedJournal(folder, position)
  const hold = await schedule.hold()
  position.at = 10
  await vi.advanceTimersByTimeAsync(4 * 60_000)
  hold.renew()
  await vi.advanceTimersByTimeAsync(4 * 60_000)
  expect(hold.lostBecause).toBeUndefined()
  await vi.advanceTimersByTimeAsync(2 * 60_000)
  expect(hold.lostBecause).toContain('nothing was received')
  expect(await bytesLeft()).toBe(10)
  await end()
})
