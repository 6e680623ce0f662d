import { describe, expect, test } from 'vitest'
import { metricHelp } from '../../src/operating/observability/metric-help.ts'

describe('the HELP text of a figure', () => {
  test.each(Object.entries(metricHelp))('of %s is a phrase that stands by itself', (_, help) => {
    expect(help).toMatch(/^[A-Z0-9]/)
    expect(help).not.toMatch(/\.$/)
    expect(help.split(' ').length).toBeGreaterThanOrEqual(3)
  })

  test('is that of no other figure', () => {
    const texts = Object.values(metricHelp)
    expect(new Set(texts).size).toBe(texts.length)
  })
})
