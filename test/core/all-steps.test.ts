import { expect, test } from 'vitest'
import { allOf, takeAllSteps } from '../../src/core/all-steps.ts'

test('all steps are taken in their order, also behind those that fail; the first failure is told', async () => {
  const taken: string[] = []
  const step = (name: string, failure?: Error) => async () => {
    await Promise.resolve()
    taken.push(name)
    if (failure) throw failure
  }
  const steps = [
    step('a'),
    step('b', new Error('the first')),
    () => {
      taken.push('c')
      throw new Error('the second')
    },
    step('d'),
  ]

  await expect(takeAllSteps(steps)).rejects.toThrow('the first')
  expect(taken).toEqual(['a', 'b', 'c', 'd'])
})

test('what runs beside something that fails is waited for', async () => {
  let hasEnded = false
  const slow = async () => {
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
    hasEnded = true
  }

  await expect(allOf([Promise.reject(new Error('no')), slow(), undefined])).rejects.toThrow('no')
  expect(hasEnded).toBe(true)
})
