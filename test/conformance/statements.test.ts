import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { statements, untestable } from './statements.ts'

/** Numbers that names of tests, or of their cases, begin with: `[MQTT-2.2.2-1] [MQTT-2.2.2-2] ...`. */
function testedStatements(): Set<string> {
  const sources = globSync('test/conformance/*.test.ts').map((file) => readFileSync(file, 'utf8'))
  const names = sources.flatMap((source) => [...source.matchAll(/['"`]((?:\[MQTT-[\d.-]+\] )+)/g)])
  return new Set(names.flatMap(([, numbers = '']) => numbers.match(/MQTT-[\d.-]+/g) ?? []))
}

describe('the statements of the specification', () => {
  test('are all tested, or there is a reason why not', () => {
    const tested = testedStatements()
    const forgotten = statements.filter((number) => !tested.has(number) && !untestable[number])
    expect(forgotten).toEqual([])
  })

  test('that have a reason not to be tested are not', () => {
    const tested = testedStatements()
    expect(Object.keys(untestable).filter((number) => tested.has(number))).toEqual([])
  })

  test('are the only ones that are named', () => {
    const named = [...testedStatements(), ...Object.keys(untestable)]
    expect(named.filter((number) => !statements.includes(number))).toEqual([])
  })

  test('are those of appendix B', () => {
    expect(new Set(statements).size).toBe(141)
  })
})
