import { expect, test } from 'vitest'
import { crashRun } from './crash-run.ts'

const seed = 20_261_121

test('every acknowledged reading is there exactly once after 15 kills under load', async () => {
  const lines = [`seed ${seed}`]

  const result = await crashRun({ kills: 15, seed, report: (line) => lines.push(line) })

  process.stdout.write(`${lines.join('\n')}\n`)
  expect(result.violations).toEqual([])
  expect(result.kills).toBe(15)
  expect(result.counters['pending']).toBe(0)
  expect(result.acknowledged).toBeGreaterThan(1_000)
})
