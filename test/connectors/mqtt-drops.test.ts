import { expect, test } from 'vitest'
import { Drops } from '../../connectors/mqtt-broker/drops.ts'
import { DroppedPublishes } from '../../src/access/auth/dropped-publishes.ts'

const session = (ignoresForeignTopics = false) => ({
  apiKeyId: 'sv_test_1',
  ignoresForeignTopics,
  drops: { sinceMs: 0, count: 0 },
})

test('a hundred dropped messages in each minute close nothing', () => {
  const drops = new Drops(new DroppedPublishes())
  const client = session()

  for (let minute = 0; minute < 3; minute++) {
    for (let sent = 0; sent < 100; sent++) {
      expect(drops.count(client, minute * 60_000)).toBeUndefined()
    }
  }

  expect(drops.total).toBe(300)
})

test('one more does, and says of which key', () => {
  const drops = new Drops(new DroppedPublishes())
  const client = session()
  for (let sent = 0; sent < 100; sent++) drops.count(client, sent)

  expect(drops.count(session(), 100)).toBeUndefined()
  expect(drops.count(client, 100)).toMatchObject({
    reason: 'unknown_topics',
    message: expect.stringMatching(/sv_test_1 so far: 102$/) as unknown,
  })
})

test('none does of a client that ignores them, and all are counted', () => {
  const ofKey = new DroppedPublishes()
  const drops = new Drops(ofKey)
  const client = session(true)

  for (let sent = 0; sent < 500; sent++) expect(drops.count(client, sent)).toBeUndefined()

  expect([drops.total, ofKey.of('sv_test_1')]).toEqual([500, 500])
})

test('who has looked up in vain 1,000 times at once is read more slowly, and others are not', () => {
  const drops = new Drops(new DroppedPublishes())
  const held: number[] = []
  const connection = { holdFor: (ms: number) => held.push(ms) }
  const client = { ...session(true), connection }

  for (let sent = 0; sent < 900; sent++) drops.slowDown(client)
  expect(held).toEqual([])
  for (let sent = 0; sent < 600; sent++) drops.slowDown(client)

  expect(held.at(-1)).toBeGreaterThan(500)
  const before = held.length
  drops.slowDown({ ...session(true), connection })
  expect(held).toHaveLength(before)
})
