import { expect, test } from 'vitest'
import { errorCatalogue } from '../../../clients/typescript/errors.ts'
import { remedyOf } from '../../../console/src/api/remedies.ts'

test('a remedy says how long to wait', () => {
  const failure = { code: 'store_unavailable', retryAfterS: 5 }

  expect(remedyOf(failure)).toContain('after 5 s')
  expect(remedyOf({ ...failure, retryAfterS: undefined })).toContain('after a while')
})

test('no remedy names members of an answer', () => {
  for (const code of Object.keys(errorCatalogue)) {
    expect(remedyOf({ code, retryAfterS: 5 }), code).not.toContain('retryAfter')
  }
})

test('what is not known has no remedy', () => {
  expect(remedyOf({ code: 'never_heard_of', retryAfterS: undefined })).toBeUndefined()
})
