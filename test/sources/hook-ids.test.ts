import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import type { StreamId } from '../../src/core/ids.ts'
import { HookIds } from '../../src/streams/sources/hook-ids.ts'

const key = new MasterKey(Buffer.alloc(32, 7))
const ids = new HookIds((text) => key.digest(text))
const streamIds = fc.uuid().map((id) => id as StreamId)

describe('the id of a webhook', () => {
  test('leads to its stream', () => {
    fc.assert(
      fc.property(streamIds, (id) => {
        expect(ids.streamOf(ids.idOf(id))).toBe(id)
      }),
    )
  })

  test('leads nowhere when a character is another, or comes from another service', () => {
    const other = new MasterKey(Buffer.alloc(32, 8))
    const foreign = new HookIds((text) => other.digest(text))
    fc.assert(
      fc.property(streamIds, fc.nat(42), fc.base64String(), (id, at, text) => {
        const hookId = ids.idOf(id)
        const letter = hookId[at] === 'A' ? 'B' : 'A'
        expect(ids.streamOf(hookId.slice(0, at) + letter + hookId.slice(at + 1))).toBeUndefined()
        expect(ids.streamOf(text)).toBeUndefined()
        expect(foreign.streamOf(hookId)).toBeUndefined()
      }),
    )
  })
})
