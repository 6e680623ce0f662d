import { expect, test } from 'vitest'
import { Places } from '../../src/ingest/pipeline/places.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'

const shape = shapeOf({ temperature: { type: 'number' } })
const monthUs = 30 * 86_400_000_000

test('readings of decades do not open hundreds of places at once, and nobody reads further ones in vain', () => {
  const places = new Places()
  let months = 0
  while (places.take(shape, months * monthUs)) {
    expect(places.areFull).toBe(false)
    months++
  }
  expect(months).toBeGreaterThan(100)
  expect(months).toBeLessThan(1_000)
  expect(places.areFull).toBe(true)
})
