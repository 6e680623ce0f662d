import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { reasons, reasonWords } from '../../../console/src/quarantine/reasons.ts'

/** Reasons as the type of the service lists them. */
function knownReasons(): readonly string[] {
  const source = readFileSync(new URL('../../../src/contracts/reading.ts', import.meta.url), 'utf8')
  const [, list = ''] = /export type RefusalReason =\n((?: {2}\| '\w+'\n)+)/.exec(source) ?? []
  return [...list.matchAll(/'(\w+)'/g)].map(([, reason]) => reason as string)
}

test('there are words for each reason of the service, and for no other', () => {
  expect(Object.keys(reasons).sort()).toEqual(knownReasons().toSorted())
})

test('a reason that is unknown here is shown as it is', () => {
  expect(reasonWords('of_tomorrow').name).toBe('of_tomorrow')
  expect(reasonWords('constructor').name).toBe('constructor')
})
