import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { askedAgainMax } from '../../connectors/opcua/retransmission.ts'
import { next } from '../../connectors/opcua/sequence-numbers.ts'
import { ScriptedOpcUa } from '../support/scripted-opcua.ts'

const patience = { timeout: 60_000, interval: 5 }

/** Requests of a server that is given up: a few more than it may answer with nothing. */
const fewRequests = 60

/** Numbers that follow each other, from one on. */
function numbersFrom(first: number, count: number): number[] {
  const numbers = [first]
  while (numbers.length < count) numbers.push(next(numbers.at(-1) as number))
  return numbers
}

describe('what is asked for again, of a server', () => {
  test('that calls good what it does not have, is asked for once', async () => {
    const server = new ScriptedOpcUa({ sequence: 4, republish: () => ({ sequence: 0 }) })
    expect(await server.publishing.catchUp()).toBe(false)
    expect(server.asked).toEqual(['republish 5'])
  })

  test('that always sends another one, is asked for once, and that is an error', async () => {
    const server = new ScriptedOpcUa({ republish: () => ({ sequence: 9, value: 1 }) })
    await expect(server.publishing.catchUp()).rejects.toThrow(
      'notification 9 when it is asked for 1',
    )
    expect(server.asked).toHaveLength(1)
    expect(server.values).toEqual([])
  })

  test('that has always one more, ends by its own count', async () => {
    const server = new ScriptedOpcUa({
      republish: (sequence) => ({ sequence, value: sequence }),
    })
    await expect(server.publishing.catchUp()).rejects.toThrow('more than 10000')
    expect(server.asked).toHaveLength(askedAgainMax + 1)
  })

  test('that has forgotten the subscription, needs a new one', async () => {
    const server = new ScriptedOpcUa({ republish: () => 'BadSubscriptionIdInvalid' })
    await expect(server.publishing.catchUp()).rejects.toMatchObject({ name: 'SubscriptionLost' })
  })

  test('is what it says that it has, also behind what is lost, and beyond the largest number', async () => {
    const had = [0xffff_fffe, 1, 2]
    const republish = (sequence: number) =>
      had.includes(sequence) ? { sequence, value: sequence % 1_000 } : 'BadMessageNotAvailable'
    const available = [2, 0xffff_fffe, 1, 0xffff_fff0]
    const server = new ScriptedOpcUa({ sequence: 0xffff_fffc, available, republish })
    expect(await server.publishing.catchUp()).toBe(true)
    expect(server.values).toEqual(had.map((sequence) => sequence % 1_000))
    expect(server.lost).toEqual([
      'notifications 4294967293 to 4294967293 are lost: the server has them no more',
      'notifications 4294967295 to 4294967295 are lost: the server has them no more',
    ])
    expect(server.position).toMatchObject({ sequence: 2 })
  })

  test('comes before anything else is asked for, so that nothing is taken twice', async () => {
    const server = new ScriptedOpcUa({
      republish: (sequence) =>
        sequence <= 3 ? { sequence, value: sequence } : 'BadMessageNotAvailable',
      publish: (count) => (count < 2 ? { sequence: count + 3, value: count + 3 } : undefined),
    })
    await server.publishing.catchUp()
    expect(server.asked).not.toContain('publish')
    server.publishing.start()
    await expect.poll(() => server.values, patience).toEqual([1, 2, 3, 4])
    await expect
      .poll(() => server.acknowledged.toSorted((one, other) => one - other), patience)
      .toEqual([1, 2, 3, 3, 4])
    expect(server.lost).toEqual([])
    await server.publishing.close()
  })
})

describe('a server that is asked for what comes', () => {
  test.each<[string, ConstructorParameters<typeof ScriptedOpcUa>[0], RegExp]>([
    ['only says that it lives, at once', { publish: () => ({ sequence: 1 }) }, /nothing new/],
    ['only says that it lives, with number 0', { publish: () => ({ sequence: 0 }) }, /nothing new/],
    [
      'only says that there is more before it, which is not there',
      { publish: () => ({ sequence: 500 }), republish: () => ({ sequence: 0 }) },
      /nothing new/,
    ],
    [
      'sends one notification for ever',
      { publish: () => ({ sequence: 1, value: 1 }) },
      /nothing new/,
    ],
    [
      'tells of another subscription',
      { publish: (count) => ({ sequence: count + 1, value: 1, subscription: 9 }) },
      /nothing new/,
    ],
    ['takes no request', { publish: () => 'BadTooManyPublishRequests' }, /BadTooManyPublish/],
    ['knows of no subscription', { publish: () => 'BadNoSubscription' }, /does not know/],
  ])('and %s, is given up', async (_, script, reason) => {
    const server = new ScriptedOpcUa(script)
    server.publishing.start()
    expect(String(await server.failed)).toMatch(reason)
    await server.publishing.close()
    expect(server.asked.length).toBeLessThan(fewRequests)
  })

  test('has told of each notification, or it is said that it is lost, and none twice', async () => {
    const counts = fc.record({
      first: fc.constantFrom(1, 5, 0xffff_fff0),
      fates: fc.array(fc.constantFrom('sent', 'sent', 'kept', 'gone', 'twice'), { maxLength: 40 }),
      tells: fc.boolean(),
    })
    const property = fc.asyncProperty(counts, async ({ first, fates, tells }) => {
      const numbers = numbersFrom(first, fates.length + 1)
      const fateOf = new Map(fates.map((fate, place) => [numbers[place] as number, fate]))
      const last = numbers.at(-1) as number
      fateOf.set(last, 'sent')
      const kept = numbers.filter((number) => fateOf.get(number) === 'kept')
      const valueOf = (sequence: number) => numbers.indexOf(sequence)
      const answers = numbers.flatMap((sequence) => {
        const fate = fateOf.get(sequence)
        const answer = { sequence, value: valueOf(sequence), available: tells ? kept : [] }
        if (fate === 'twice') return [answer, answer]
        return fate === 'sent' ? [answer] : []
      })
      const server = new ScriptedOpcUa({
        sequence: first === 1 ? 0 : first - 1,
        publish: (count) => answers[count],
        republish: (sequence) =>
          fateOf.get(sequence) === 'kept'
            ? { sequence, value: valueOf(sequence) }
            : 'BadMessageNotAvailable',
      })
      server.publishing.start()
      await expect.poll(() => server.position, patience).toMatchObject({ sequence: last })
      await server.publishing.close()
      const lost = server.lost.flatMap((text) => {
        const [, from, to] = /notifications (\d+) to (\d+)/.exec(text) ?? []
        const begin = numbers.indexOf(Number(from))
        return numbers.slice(begin, numbers.indexOf(Number(to)) + 1).map(valueOf)
      })
      const all = [...server.values, ...lost].toSorted((one, other) => one - other)
      expect(all).toEqual(numbers.map(valueOf))
      expect(server.values).toEqual(server.values.toSorted((one, other) => one - other))
      const gone = numbers.filter((number) => fateOf.get(number) === 'gone').map(valueOf)
      if (tells) expect(lost).toEqual(gone)
      else expect(lost).toEqual(expect.arrayContaining(gone))
    })
    await fc.assert(property, { numRuns: 60 })
  })
})
