import { expect, test } from 'vitest'
import { parseBulk } from '../../src/streams/data-streams/bulk-creation.ts'

const vaultId = '01234567-89ab-4def-8123-456789abcdef'

/** How often a shared schema is walked through to make so many streams of it. */
async function walksFor(count: number): Promise<number> {
  let walks = 0
  const schema = new Proxy(
    { level: { type: 'number' } },
    {
      ownKeys(target) {
        walks++
        return Reflect.ownKeys(target)
      },
    },
  )
  const definition = { vaultId, type: 'iot_sensor', schema }
  const streams = Array.from({ length: count }, (_, index) => ({ name: `pump ${index}` }))
  expect(await parseBulk({ definition, streams })).toHaveLength(count)
  return walks
}

test('what many streams share is checked once', async () => {
  expect(await walksFor(1_000)).toBe(await walksFor(1))
})

test('others have a turn between definitions', async () => {
  const body = { name: 'pump', vaultId, type: 'iot_sensor', schema: { level: { type: 'number' } } }
  let isEarlier = false
  setImmediate(() => {
    isEarlier = true
  })

  await parseBulk({ definitions: [body, body, body] })

  expect(isEarlier).toBe(true)
})
