import { expect, test } from 'vitest'
import { reasons, reasonWords } from '../../../console/src/quarantine/reasons.ts'
import { refusalCatalogue } from '../../../src/core/refusal-catalogue.ts'

test('there are words for each reason of the service, and for no other', () => {
  expect(Object.keys(reasons).sort()).toEqual(Object.keys(refusalCatalogue).toSorted())
})

test('a reason that is unknown here is shown as it is', () => {
  expect(reasonWords('of_tomorrow').name).toBe('of_tomorrow')
  expect(reasonWords('constructor').name).toBe('constructor')
})
