import { expect, test } from 'vitest'
import type { FetchConnector } from '../../src/contracts/fetch-connector.ts'
import { newId, type UserId } from '../../src/core/ids.ts'
import { SourceTrials } from '../../src/streams/sources/source-trials.ts'
import { dialOf } from '../support/dial-of.ts'

const dial = dialOf(() => Promise.reject(new Error('nobody is to be connected to')))

/** Trials of a source that says nothing until the test lets it end. */
function silent() {
  const end = Promise.withResolvers<void>()
  const connector: FetchConnector = {
    takes: () => true,
    destinationOf: () => undefined,
    open: () => ({ identity: 'silent', run: () => end.promise }),
  }
  const trials = new SourceTrials({
    connectors: [connector],
    dial,
    nowUs: () => 0,
  })
  return { trials, end: end.resolve }
}

const busy = { code: 'overloaded' }

test('no user takes more than two places of those who try sources, and all eight', async () => {
  const { trials, end } = silent()
  const [first, ...others] = Array.from({ length: 4 }, () => newId<UserId>()) as [UserId]
  const running = [trials.try({}, first), trials.try({}, first)]
  await expect(trials.try({}, first)).rejects.toMatchObject(busy)
  for (const user of others) running.push(trials.try({}, user), trials.try({}, user))
  await expect(trials.try({}, newId<UserId>())).rejects.toMatchObject(busy)
  end()
  expect(await Promise.all(running)).toHaveLength(8)
  expect(await trials.try({}, first)).toMatchObject({ isReached: false })
})

test('a problem shows no secret, in whichever way it is written', async () => {
  const password = 'p"ss wörd/+'
  const spelled = [
    password,
    JSON.stringify(password),
    encodeURIComponent(password),
    Buffer.from(password).toString('base64'),
  ]
  const connector: FetchConnector = {
    takes: () => true,
    destinationOf: () => undefined,
    open: () => ({ identity: 'told', run: () => Promise.reject(new Error(spelled.join(' '))) }),
  }
  const trials = new SourceTrials({ connectors: [connector], dial, nowUs: () => 0 })
  const source = { credentials: { username: 'plant', password } }
  const { problem } = await trials.try(source, newId<UserId>())
  expect(problem).toBe('******** "********" ******** ********')
})
