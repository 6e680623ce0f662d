import { describe, expect, test } from 'vitest'
import { judgeOf } from '../../processors/index.ts'
import { parseRfc3339 } from '../../src/core/time.ts'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'
import { samplesOfMessages } from '../../src/streams/data-streams/message-samples.ts'
import { misfitsOf } from '../../src/streams/data-streams/proposal-misfits.ts'
import { proposeStream } from '../../src/streams/data-streams/stream-proposal.ts'
import { recipes } from '../recipes/index.ts'
import type { SentMessage } from '../recipes/recipe.ts'

const nowUs = parseRfc3339('2026-12-01T12:00:00Z') as number
const vaultId = '01234567-89ab-4def-8123-456789abcdef'
const needs = { judgeOf, nowUs }

/** Formats whose rows have a place for the time of each. */
const withTimes: ReadonlySet<string> = new Set(['line-protocol', 'prometheus'])

/** Texts that name their values. */
const formats: Readonly<Record<string, object>> = {
  'campbell-toa5': { format: 'csv', headerLines: 4, columnsLine: 2, timestampField: 'TIMESTAMP' },
  ecowitt: { format: 'form', timestampField: 'dateutc', timestampFormat: 'local' },
  'influxdb-arduino': { format: 'line-protocol', precision: 's' },
  'node-exporter': { format: 'prometheus' },
}

function sampled(messages: readonly SentMessage[]) {
  const sent = messages.map(({ payload, ...context }) => {
    return { ...context, payload: Buffer.from(payload) }
  })
  return samplesOfMessages(sent, nowUs)
}

describe('a proposal from the first ten messages of a recipe', () => {
  test.each(recipes)('takes the other 190: $name', ({ messages }) => {
    const { proposal, misfits } = proposeStream(sampled(messages(10)), needs)
    const definition = parseDefinition({ name: 'device', vaultId, ...proposal })

    expect(misfits).toEqual([])
    expect(misfitsOf(sampled(messages(200)), definition, needs)).toEqual([])
  })

  test.each(recipes)('finds the times that its page has: $name', ({ messages, expected }) => {
    const { proposal } = proposeStream(sampled(messages(10)), needs)
    const isTimed = [0, 1, 2].some((index) => expected(index).some((one) => 'timestamp' in one))
    const source = proposal.source as Readonly<Record<string, unknown>>
    const says = source['timestampField'] ?? source['timestampFormat'] ?? source['items']
    const saysItself = withTimes.has(String(source['format']))

    expect(isTimed && says === undefined && !saysItself).toBe(false)
  })

  test.each(recipes.filter(({ name }) => name in formats))(
    'names the format of its page: $name',
    ({ name, messages }) => {
      const { proposal } = proposeStream(sampled(messages(10)), needs)

      expect(proposal.source).toMatchObject(formats[name] ?? {})
    },
  )
})
