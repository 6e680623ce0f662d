import { describe, expect, test } from 'vitest'
import { formatOptionsOf } from '../../src/streams/data-streams/payload-format.ts'

describe('what decoders are told of a source', () => {
  test('is only what is about the format', () => {
    const source = { deviceId: 'pump', format: 'csv', columns: ['a'], topic: 'a/b' }
    expect(formatOptionsOf(source)).toEqual({ columns: ['a'] })
  })

  test('is the topic as well, where it says which messages of an edge node are heard', () => {
    const source = { format: 'sparkplug', topic: 'spBv1.0/#' }
    expect(formatOptionsOf(source)).toEqual({ topic: 'spBv1.0/#' })
  })

  test('is one and the same object where there is nothing to tell', () => {
    expect(formatOptionsOf({ format: 'json' })).toBe(formatOptionsOf({ deviceId: 'pump' }))
  })
})
