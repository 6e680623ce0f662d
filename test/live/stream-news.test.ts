import { beforeEach, expect, test } from 'vitest'
import { type News, StreamNews } from '../../src/reading/live/stream-news.ts'

const [followed, other] = ['a'.repeat(16), 'b'.repeat(16)]
/** What batches are looked through for. */
const sought = new Set([followed, other])

let news: StreamNews
let end: number

beforeEach(() => {
  end = 1
  news = new StreamNews(end, { notedMax: 4, waitMs: 60_000 })
  news.of(followed, end, undefined)
  news.of(other, end, undefined)
})

function note(found: readonly string[], entries = 1, byteLength = 100): void {
  const batch = { firstOffset: end, end: end + entries, byteLength }
  end += entries
  news.note(batch, { sought, found: new Set(found) })
}

const all = (from: number): News => news.of(followed, from, end)

test('the batches of a stream are noted, and not those of others', () => {
  note([followed])
  note([other], 5)
  note([followed, other], 2)

  expect(all(1)).toEqual({ batches: [1, 7], until: 9 })
  expect(all(2)).toEqual({ batches: [7], until: 9 })
  // From within a batch, and up to its beginning.
  expect(all(8)).toEqual({ batches: [7], until: 9 })
  expect(news.of(followed, 1, 7)).toEqual({ batches: [1], until: 7 })
  expect(all(9)).toEqual({ batches: [], until: 9 })
})

test('of entries from before a stream was followed, and of those whose commit has no end yet, nothing is known', () => {
  note([followed])

  expect(all(0)).toEqual({ batches: undefined, until: 1 })
  expect(news.of('c'.repeat(16), 1, undefined)).toEqual({ batches: undefined, until: 2 })
  expect(news.of(followed, 1, 3)).toEqual({ batches: undefined, until: 3 })
})

test('only the newest batches of a stream are noted: of those before them nothing is known', () => {
  for (let batch = 0; batch < 6; batch++) note([followed])

  expect(all(1)).toEqual({ batches: undefined, until: 3 })
  expect(all(3)).toEqual({ batches: [3, 4, 5, 6], until: 7 })
})

test.each([
  ['entries', 15_000, 100],
  ['bytes', 10, 5 * 1024 * 1024],
])('one answer reads a bounded number of %s', (_, entries, bytes) => {
  note([followed], entries, bytes)
  note([followed], entries, bytes)

  expect(all(1)).toEqual({ batches: [1], until: 1 + entries })
  expect(all(1 + entries)).toEqual({ batches: [1 + entries], until: 1 + 2 * entries })
})

test('what comes right after a notice is shown with the next one', async () => {
  const newest = () => news.of(followed, 1, undefined)
  const arrived = news.arrival(followed)
  note([followed])
  expect(newest()).toEqual({ batches: [], until: 1 })
  await arrived
  expect(newest()).toEqual({ batches: [1], until: 2 })

  const again = news.arrival(followed)
  note([followed])
  note([])
  expect(newest()).toEqual({ batches: [1], until: 2 })
  await again
  expect(newest()).toEqual({ batches: [1, 2], until: 4 })
})

test('who waits for a stream is not notified of others', async () => {
  let isNotified = false
  const arrived = (async () => {
    await news.arrival(followed)
    isNotified = true
  })()
  const arrivedAtOther = news.arrival(other)
  note([other])
  await arrivedAtOther
  expect(isNotified).toBe(false)

  note([followed])
  await arrived
})
