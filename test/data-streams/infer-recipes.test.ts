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

    expect(isTimed && says === undefined).toBe(false)
  })
})
