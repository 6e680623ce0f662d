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
