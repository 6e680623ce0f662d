import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isKeyId, isWholeId } from '../../../console/src/shell/search/found.ts'
import { newKeyAndSecret } from '../../../src/identity/keys/key.ts'

test.for(['live', 'test'] as const)('what is made as the id of a %s key is one', (kind) => {
  const { id } = newKeyAndSecret(kind)
  expect(isKeyId(` ${id}\n`)).toBe(true)
  expect(isKeyId(id.slice(0, -1))).toBe(false)
  expect(isWholeId(id)).toBe(false)
})

test('no id of anything else is that of a key', () => {
  fc.assert(fc.property(fc.uuid(), (id) => isWholeId(id) && !isKeyId(id)))
})
