import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ApiRounds } from '../support/api-rounds.ts'
import { ApiServer, json } from '../support/api-server.ts'
import { movesOf, secondUs } from '../support/clock-moves.ts'
import { passingTime } from '../support/passing-time.ts'

test('however the wall clock is set, a token of an API is kept until shortly before it ends', async () => {
  const lifeS = 600
  const usedMs = (lifeS - 30) * 1_000
  await using tokens = await ApiServer.start((_, response) => {
    const value = `token-${tokens.asked.length}`
    json(response, JSON.stringify({ access_token: value, expires_in: lifeS }))
  })
  await using api = await ApiServer.start((_, response) => json(response, '{"number": 1}'))
  const authentication = {
    type: 'oauth2',
    tokenUrl: `${tokens.origin}/token`,
    clientId: 'vault',
    clientSecret: 'secret',
  }
  const source = { endpoint: api.origin, authentication }
  await fc.assert(
    fc.asyncProperty(movesOf((lifeS * secondUs) / 2), async (moves) => {
      using time = passingTime()
      const rounds = new ApiRounds(source, [api.port, tokens.port])
      let askedMs = Number.NEGATIVE_INFINITY
      for (const { passUs, stepUs } of moves) {
        time.passedMs += passUs / 1_000
        rounds.nowUs += passUs + stepUs
        const before = tokens.asked.length
        await rounds.round()
        const isAsked = tokens.asked.length > before
        // The machine takes some time for each round as well.
        const isNear = Math.abs(time.passedMs - askedMs - usedMs) < 5_000
        if (!isNear) expect(isAsked).toBe(time.passedMs - askedMs > usedMs)
        if (isAsked) askedMs = time.passedMs
      }
    }),
    { numRuns: 20 },
  )
})
