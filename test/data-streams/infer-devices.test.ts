import { describe, expect, test } from 'vitest'
import { judgeOf } from '../../processors/index.ts'
import { parseRfc3339 } from '../../src/core/time.ts'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'
import { samplesOfMessages } from '../../src/streams/data-streams/message-samples.ts'
import { misfitsOf } from '../../src/streams/data-streams/proposal-misfits.ts'
import { proposeStream } from '../../src/streams/data-streams/stream-proposal.ts'
import { devices } from '../support/series/devices.ts'
import { platforms } from '../support/series/platforms.ts'
import type { Series } from '../support/series/values.ts'

const nowUs = parseRfc3339('2026-03-01T12:00:00Z') as number
const vaultId = '01234567-89ab-4def-8123-456789abcdef'
function sent({ topic, payload }: ReturnType<Series['message']>) {
  return { ...(topic !== undefined && { topic }), payload: Buffer.from(JSON.stringify(payload)) }
}

describe('a proposal from the first ten of 200 messages', () => {
  test.each([...devices, ...platforms])(
    'of $name takes all others',
    ({ message, source, fields }) => {
      const all = Array.from({ length: 200 }, (_, index) => sent(message(index)))
      const needs = { judgeOf, nowUs }

      const { proposal, misfits } = proposeStream(samplesOfMessages(all.slice(0, 10), nowUs), needs)
      const definition = parseDefinition({ name: 'device', vaultId, ...proposal })

      expect(misfits).toEqual([])
      expect(misfitsOf(samplesOfMessages(all, nowUs), definition, needs)).toEqual([])
      expect(definition.source).toMatchObject(source)
      const found = Object.keys(fields).map((name) => [name, definition.schema[name]?.from])
      expect(Object.fromEntries(found)).toEqual(fields)
      expect(Object.keys(definition.schema)).toEqual(expect.arrayContaining(Object.keys(fields)))
    },
  )
})
