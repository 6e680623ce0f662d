import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { race } from '../../src/core/race.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** A promise that is settled after some turns, or never. */
interface Runner {
  readonly turns: number | undefined
  readonly isRejected: boolean
}

async function started({ turns, isRejected }: Runner, name: number): Promise<string> {
  if (turns === undefined) return await new Promise(() => undefined)
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
  if (isRejected) throw new Error(`rejected ${name}`)
  return `resolved ${name}`
}

async function outcomeOf(promise: Promise<string>): Promise<string> {
  return await promise.catch((error: unknown) => String(error))
}

const runner = fc.record({
  turns: fc.option(fc.nat(4), { nil: undefined }),
  isRejected: fc.boolean(),
})
const first: Runner = { turns: 5, isRejected: false }

test('ends as Promise.race does, also when a promise is in several races', async () => {
  const property = fc.asyncProperty(fc.array(runner, { maxLength: 5 }), async (runners) => {
    const promises = [...runners, first].map(started)
    const wanted = await outcomeOf(Promise.race(promises))
    expect(await outcomeOf(race(promises))).toBe(wanted)
    expect(await outcomeOf(race(promises.toReversed()))).toBe(
      await outcomeOf(Promise.race(promises.toReversed())),
    )
  })
  await fc.assert(property)
})

test('tells the races that are waiting, and none that is over', async () => {
  const lasting = Promise.withResolvers<string>()
  expect(await race([lasting.promise, Promise.resolve('short')])).toBe('short')
  const waiting = race([lasting.promise, new Promise<string>(() => undefined)])
  lasting.resolve('lasting')
  expect(await waiting).toBe('lasting')
  expect(await race([new Promise<string>(() => undefined), lasting.promise])).toBe('lasting')
})

test('a promise that lasts keeps nothing of races that are over', async () => {
  const lasting = new Promise<never>(() => undefined)
  const results: WeakRef<object>[] = []
  for (let round = 0; round < 100; round++) {
    results.push(new WeakRef(await race([lasting, Promise.resolve({ round })])))
  }
  await sleep(1)
  collectGarbage()
  expect(results.filter((one) => one.deref() !== undefined)).toEqual([])
  expect(lasting).toBeInstanceOf(Promise)
})
